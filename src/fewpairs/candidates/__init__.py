"""Candidates: pairs of vectors with large inner products, in bounded memory, the same every time.

What a guide proposes before anything is evaluated. Up to some size every product is computed, by
tiles that stay in the cache, and all but the largest are forgotten at once; above it, those that
promise much. No library is needed for it (docs/tables/candidates.md).
"""

from fewpairs.candidates.largest import Products, largest_products
from fewpairs.candidates.nearest import Nearest, most_similar

__all__ = ["Nearest", "Products", "largest_products", "most_similar"]
