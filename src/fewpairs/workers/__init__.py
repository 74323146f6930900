"""Where work is done: threads here, processes here, or a cluster."""
