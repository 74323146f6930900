"""wmd(): exact Word Mover's Distances between sets of documents."""

from __future__ import annotations

from typing import Any

from fewpairs.arrays import FloatArray
from fewpairs.errors import InputError
from fewpairs.parallel import require_memory
from fewpairs.text.documents import Documents
from fewpairs.text.tokens import read_stop_words
from fewpairs.text.word_vectors import WordVectors
from fewpairs.transport.ground import Ground
from fewpairs.workers.choice import WorkersOption, home_of


def wmd(
    documents: Any,
    others: Any = None,
    vectors: Any = None,
    *,
    metric: str = "euclidean",
    normalize: bool = False,
    n_jobs: int = 1,
    workers: WorkersOption = "threads",
    client: Any = None,
    ceiling: float | None = None,
    **options: Any,
) -> FloatArray:
    """Return the Word Mover's Distance of every document to every other one, exactly.

    Parameters
    ----------
    documents : sequence of texts or token lists, or Documents
    others : the same, optional
        By default the documents themselves; then only one triangle is computed.
    vectors : WordVectors, mapping, or gensim's KeyedVectors
        May be left out where `documents` are prepared `Documents`.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Of the vectors as they are, as in the paper; or 1 − cosine. A zero vector has no direction:
        its cosine distance is 1 to all that have one, and 0 to itself and to other zero vectors.
    normalize : bool, default=False
        Scale vectors to length one first, as gensim's ``wmdistance`` does.
    n_jobs : int, default=1
        Threads; results do not depend on it.
    workers : {"threads", "processes"}, default="threads"
        What `n_jobs` counts.
    client : dask.distributed.Client, optional
        A cluster, whose workers compute instead.
    ceiling : float, optional
        A result of more bytes is refused; by default 2 GiB, or what `fewpairs.max_memory` says.
    **options
        Of `Documents.of`: tokenizer, stop_words, weights, empty. With ``empty="drop"`` rows and
        columns are those of the documents that remain.

    Returns
    -------
    ndarray of shape (n_documents, n_others)

    Examples
    --------
    >>> import fewpairs as fp
    >>> table = {"ape": [0.0, 0.0], "monkey": [0.0, 1.0], "car": [9.0, 0.0]}
    >>> fp.wmd(["ape", "the ape car"], ["monkey"], table).round(2)
    array([[1.  ],
           [5.03]])
    """
    home = home_of(n_jobs, workers, client)
    left, right, ground = read_documents(
        documents, others, vectors, metric=metric, normalize=normalize, options=options
    )
    if others is None:
        _require_distances(len(left), len(left), "Use fewpairs.approximate", ceiling)
        return ground.triangle(left, home)
    _require_distances(len(left), len(right), "Ask for fewer documents at a time", ceiling)
    return ground.block(left, right, home)


def _require_distances(n: int, m: int, instead: str, ceiling: float | None) -> None:
    what = f"the distances of {n:,} documents to {m:,}"
    require_memory(8 * n * m, what, instead, ceiling=ceiling, convenience=True)


def read_documents(
    documents: Any,
    others: Any,
    vectors: Any,
    *,
    metric: str,
    normalize: bool,
    options: dict[str, Any],
) -> tuple[Documents, Documents, Ground]:
    """Prepare the arguments that `wmd`, `wmd_bounds` and `wmd_neighbors` have in common.

    Parameters
    ----------
    documents, others, vectors, metric, normalize : as for `wmd`
    options : dict
        Of `Documents.of`.

    Returns
    -------
    left, right : Documents
        The same object if there are no others.
    ground : Ground
    """
    if vectors is None and not isinstance(documents, Documents):
        raise InputError(
            f"the documents are a {type(documents).__name__}, and vectors were not given.",
            "A distance between texts is one between the vectors of their words.",
            "Pass vectors=, for example fewpairs.WordVectors.load(path) or "
            "fewpairs.train_word_vectors(texts); or documents from fewpairs.Documents.of.",
        )
    table = WordVectors.of(documents.vectors if vectors is None else vectors)
    # Both sides are read with the same options, and an iterator would be empty the second time.
    options = options | {"stop_words": read_stop_words(options.get("stop_words"))}
    left = Documents.of(documents, table, **options)
    right = left if others is None else Documents.of(others, table, **options)
    return left, right, Ground.of(table, metric, normalize=normalize)
