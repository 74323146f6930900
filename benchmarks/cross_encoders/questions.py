"""Duplicates among thousands of questions by a cross-encoder: the recipe, in earnest.

The questions are TREC's. The model is MiniLM, fine-tuned on the spot on MRPC's paraphrases and kept
in the folder; MiniLM's own embeddings are the guide. It prints, and writes nothing. Takes about an
hour on one core.

    FEWPAIRS_DATA=… python -m benchmarks.cross_encoders.questions [--quick] [--model FOLDER]
        [--questions 5000] [--budget 100000]
"""

from __future__ import annotations

import time
from pathlib import Path

import fewpairs as fp
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.taught_models import embedded, taught
from fewpairs import datasets


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--model", type=Path, default=Path("models"), help="keeps the model")
    parser.add_argument("--questions", type=int, default=5000)
    parser.add_argument("--budget", type=int, default=100_000, help="calls of the model")
    options = parser.parse_args()
    need_data()
    count, budget = (60, 1200) if options.quick else (options.questions, options.budget)
    records = [r for part in ("train", "test") for r in datasets.read_records("trec", part)]
    questions = list(dict.fromkeys(r["text"] for r in records))[:count]
    options.model.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    model = fp.CrossEncoder(taught("MRPC", options.model, options.quick), max_length=64)
    print(f"the model is there after {time.perf_counter() - start:.0f} s", flush=True)
    start = time.perf_counter()
    found = fp.find_pairs(
        questions,
        model,
        above=0.9,
        guide=embedded(questions),
        budget=budget // 2,  # pairs, each of which is read in both orders
        random_state=0,
    )
    seconds = time.perf_counter() - start
    print(f"{len(questions):,} questions, {found.evaluations:,} calls in {seconds:.0f} s")
    print(found.recall)
    for i, j, score in list(zip(found.left, found.right, found.similarities, strict=True))[:20]:
        print(f"{score:.3f}  {questions[i]}  |  {questions[j]}")


if __name__ == "__main__":
    main()
