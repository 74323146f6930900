"""Guides in unusual forms, and encoders that fail."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from fewpairs.errors import InputError
from fewpairs.guides.guides import as_guides
from fewpairs.items.items import as_items

X = np.random.default_rng(0).normal(size=(6, 3))


@pytest.mark.parametrize("form", [sp.dok_array, sp.lil_array, sp.coo_array])
def test_every_sparse_form_is_read(form):
    items = as_items(list(range(6)))
    expected = as_guides(X, items, None, None)[0].left
    np.testing.assert_allclose(as_guides(form(X), items, None, None)[0].left, expected, rtol=1e-6)


def test_an_encoder_that_fails_is_named_with_its_cause():
    def encode(items):
        raise KeyError("gone")

    with pytest.raises(InputError, match="failed to encode 6 items: KeyError") as caught:
        as_guides(encode, as_items(list(range(6))), None, None)
    assert isinstance(caught.value.__cause__, KeyError)
