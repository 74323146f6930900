"""What other rooms need to speak of similarities, whatever they are made of."""

from __future__ import annotations

from fewpairs.similarities.function import as_similarity, similarity
from fewpairs.similarities.protocol import Pair, Similarity, is_async

__all__ = ["Pair", "Similarity", "as_similarity", "is_async", "similarity"]
