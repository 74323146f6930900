"""The face: pages and pictures."""
