"""From raw text to what similarities need."""
