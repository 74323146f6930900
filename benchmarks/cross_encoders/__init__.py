"""Cross-encoders: how fast pairs are read."""
