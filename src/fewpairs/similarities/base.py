"""What other rooms need to speak of similarities, whatever they are made of."""

from __future__ import annotations

from fewpairs.similarities.facts import is_async
from fewpairs.similarities.function import as_similarity, declared, similarity
from fewpairs.similarities.protocol import Pair, Similarity

__all__ = ["Pair", "Similarity", "as_similarity", "declared", "is_async", "similarity"]
