"""Cross-encoders of the Hugging Face kind: their tokens, their weights, where they run."""
