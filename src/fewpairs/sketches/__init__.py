"""Features without landmarks."""
