"""The whole similarity matrix from a few pairs: error, price, neighbours, stated intervals."""
