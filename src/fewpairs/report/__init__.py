"""A result as one page that needs no network: what was spent, how sure it is, and every item."""
