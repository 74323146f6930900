"""Moving mass: exact earth mover's distance, one pair or millions."""
