"""Answers: pairs that match, neighbours, and how many of them are missing."""
