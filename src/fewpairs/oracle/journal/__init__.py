"""The journal: the oracle's memory on disk."""
