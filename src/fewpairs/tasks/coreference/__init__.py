"""Mentions and the clusters of those that refer to the same thing."""
