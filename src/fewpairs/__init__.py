"""The whole similarity matrix from a few pairs."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

#: Public name → module that holds it. Modules load on first use: importing fewpairs is instant.
_HOMES = {
    "max_memory": "parallel",
    "Journal": "oracle.journal.journal",
    "Oracle": "oracle.oracle",
    "CrossEncoder": "similarities.cross_encoder",
    "MentionScorer": "similarities.mentions",
    "mention_vectors": "similarities.transformers.mention_vectors",
    "Precomputed": "similarities.precomputed",
    "RecordSimilarity": "similarities.records",
    "Similarity": "similarities.base",
    "StringSimilarity": "similarities.strings",
    "VectorSimilarity": "similarities.vectors",
    "WordMover": "similarities.word_mover",
    "similarity": "similarities.base",
    "ItemsOnDisk": "items.on_disk",
    "TextLines": "items.lines",
    "Documents": "text.documents",
    "WordVectors": "text.word_vectors",
    "DistanceGeometryVectors": "text.training",
    "train_word_vectors": "text.training",
    "kmers": "text.kmers",
    "kmer_documents": "text.kmers",
    "embed_sequences": "text.kmers",
    "read_fasta": "text.kmers",
    "emd": "transport.emd",
    "sinkhorn": "transport.sinkhorn",
    "wmd": "transport.wmd",
    "wmd_bounds": "transport.bounds",
    "wmd_neighbors": "transport.neighbors",
    "wmd_pairs": "transport.pairs",
    "WordMoverEmbedding": "sketches.word_mover_embedding",
    "PolynomialSketch": "sketches.transformers",
    "RBFSketch": "sketches.transformers",
    "elementwise": "sketches.elementwise",
    "rbf_kernel": "sketches.gaussian",
    "FactoredMatrix": "factored.matrix",
    "Check": "factored.check",
    "load": "factored.storage",
    "ErrorEstimate": "error.estimate",
    "Found": "tasks.matching.found",
    "Recall": "error.recall",
    "Clusters": "tasks.clustering.clusters",
    "cluster": "tasks.clustering.cluster",
    "find_nearest": "tasks.matching.find_nearest",
    "find_pairs": "tasks.matching.find_pairs",
    "plan_nearest": "tasks.matching.plan_nearest",
    "plan_pairs": "tasks.matching.plan_pairs",
    "recall_of": "tasks.matching.recall_of",
    "score_pairs": "tasks.matching.score_pairs",
    "suggest_threshold": "tasks.matching.suggest_threshold",
    "PairScores": "tasks.pairs",
    "pair_scores": "tasks.pairs",
    "Finetuned": "tasks.finetuning.finetune",
    "finetune_cross_encoder": "tasks.finetuning.finetune",
    "FinetunedEncoder": "tasks.finetuning.mention_encoder",
    "finetune_mention_encoder": "tasks.finetuning.mention_encoder",
    "linearize": "tasks.linearize",
    "CoreferenceScores": "tasks.coreference.scores",
    "coreference_scores": "tasks.coreference.scores",
    "read_conll": "tasks.coreference.conll",
    "write_conll": "tasks.coreference.conll",
    "approximate": "run.approximate",
    "plan": "run.planning",
    "plan_cluster": "run.scaling",
    "inspect": "run.inspect",
    "FactoredAgglomerative": "estimators.agglomerative",
    "SimilarityClassifier": "estimators.classifier",
    "SimilarityFeatures": "estimators.features",
    "SimilarityNeighbors": "estimators.neighbors",
}
_MODULES = ("errors", "plots", "datasets")

__all__ = ["__version__", *sorted(_HOMES), *_MODULES]  # noqa: PLE0604 - names are strings


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(f"fewpairs.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f"fewpairs.{name}")
    message = f"module 'fewpairs' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return __all__
