"""Scale: many workers, many items."""
