"""What a pair costs: the protocol, and ready similarities."""
