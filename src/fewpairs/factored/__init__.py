"""The result: a factored matrix, and what one can read from it."""
