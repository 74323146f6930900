"""A cross-encoder from labelled pairs: a local encoder, taught for a few epochs."""
