"""What people do with a factored matrix."""
