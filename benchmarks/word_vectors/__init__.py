"""Word vectors by distance geometry: speed, quality, memory, proteins."""
