"""A package, because other folders have test files of the same names."""
