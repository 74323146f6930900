"""Maps: a place in the plane for every item, beside its nearest; nothing is evaluated."""
