"""The only gate to a similarity: plans, counts, checks, remembers."""
