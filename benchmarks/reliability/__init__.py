"""Whether what is stated is true, on inputs that are meant to break it."""
