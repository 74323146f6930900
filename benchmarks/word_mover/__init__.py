"""Word Mover's Distance and Embedding: speed, classification, sentence similarity."""
