"""From a few evaluated columns to a factored matrix."""
