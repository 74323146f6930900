"""Groups of items: average linkage without the matrix, and how right it is."""
