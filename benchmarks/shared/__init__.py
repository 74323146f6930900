"""What several benchmarks use: data, tables, measures, the command line."""
