"""What the user compares, and reading it from files."""
