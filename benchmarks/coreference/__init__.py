"""Cross-document coreference: mentions clustered by an approximated pair scorer."""
