"""Clusters: how large they can be, what they cost, and how right they are."""
