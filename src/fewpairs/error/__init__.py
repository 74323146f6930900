"""What is stated: how far a result is off, from pairs that it was not made of."""
