"""Tiny transformers, made on the spot: random weights, a vocabulary of a few words."""

from __future__ import annotations

import torch
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

WORDS = "one two three four five red blue ape cat the a on sat ##s ##er !".split()
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]


def tokenizer(folder):
    file = folder / "vocab.txt"
    file.write_text("\n".join(VOCABULARY), encoding="utf-8")
    return BertTokenizer(str(file), model_max_length=48)


def network(labels=1, seed=0, spread=0.6):
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=48,
        num_labels=labels,
        initializer_range=spread,
    )
    return BertForSequenceClassification(config).eval()


def folder(path, **options):
    network(**options).save_pretrained(path)
    tokenizer(path).save_pretrained(path)
    return path
