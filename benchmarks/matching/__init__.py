"""Answers: matches and neighbours, what they cost, and whether what is stated is true."""
