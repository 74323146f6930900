"""Answers: candidates for pairs that match."""
