"""The default method: docs/fitted.md has its recipe and its mathematics."""
