"""Cross-encoders: how fast pairs are read, and what a search finds."""
