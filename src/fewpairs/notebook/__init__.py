"""Results as small pieces of HTML: a table and a picture, for notebooks and for pages."""
