"""Messages in the words of the command: options that can be typed, and nothing that is not so."""

from __future__ import annotations

import re

#: Arguments of the functions that have another name as options.
_OPTIONS = {
    "landmarks": "--landmarks",
    "budget": "--budget",
    "method": "--method",
    "gamma": "--gamma",
    "target_error": "--target-error",
    "error_pairs": "--error-pairs",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "above": "--above",
    "below": "--below",
    "recall": "--recall",
    "one_to_one": "--one-to-one",
    "others": "--others",
    "k": "-k",
    "sample": "--sample",
    "dimensions": "--dimensions",
    "window": "--window",
    "min_count": "--min-count",
    "all_pairs": "--all-pairs",
    "missing": "--missing",
    "retry": "--retry",
    "timeout": "--timeout",
    "per_second": "--per-second",
    "max_in_flight": "--max-in-flight",
    "seconds_per_pair": "--seconds-per-pair",
    "price_per_hour": "--price-per-hour",
}
_GIVEN = re.compile(rf"(?<![\w.-])({'|'.join(_OPTIONS)})=([\w.+-]*\w)")
#: Without a value only what is no plain word.
_NAMED = re.compile(rf"(?<![\w.-])({'|'.join(name for name in _OPTIONS if '_' in name)})(?![\w=])")
#: How to go on in Python; the command says itself what it has kept.
_IN_PYTHON = "error.oracle"
#: What is said otherwise to somebody who types.
_OTHERWISE = {
    # The command ends with a failed attempt to save, and its memory with it.
    "and save again: what was to be saved is still in memory.": "and run the command again.",
    ", or wait for it: journal=fewpairs.Journal(folder, wait=seconds).": ".",
    'Pass fewpairs.similarity(…, name="my model", version="1"), or set name and version on your '
    "class; a new version begins anew.": 'Set it beside the function: alike.version = "1" for '
    "score:alike; a new version begins anew.",
    "Declare symmetric=False, or average both orders with similarity.symmetrized().": "Pass "
    "--asymmetric, or mend the function.",
    "Pass RecordSimilarity(…, incomparable=…) with a value that is far; or, for every field that "
    "is missing, RecordSimilarity(…, missing=…).": "Pass for example --missing 1, a value that is "
    "far, for every cell that is empty.",
    "; K.ids lists them.": ".",
    "all_pairs=True": "--all-pairs",
    "budget is '": "--budget is '",
    "retry is ": "--retry is ",
    "timeout is ": "--timeout is ",
    'if it fails at times, pass retry=…, timeout=…; on_error="skip" leaves such pairs out, and '
    "counts them.": "if it fails at times, pass --retry 5 --timeout 30",
    "missing is ": "--missing is ",
    'Pass cost="': 'Pass --cost "',
}


def for_typing(message: str) -> str:
    """Return a message of the library as the command tells it."""
    for written, typed in _OTHERWISE.items():
        message = message.replace(written, typed)
    message = _GIVEN.sub(lambda found: f"{_OPTIONS[found[1]]} {found[2]}", message)
    return _NAMED.sub(lambda found: _OPTIONS[found[1]], message)


def told(error: BaseException) -> str:
    """Return what was wrong and what to do, in one line; its notes follow."""
    brief = getattr(error, "brief", str(error))
    if _IN_PYTHON in brief:
        brief = str(error).splitlines()[0]
    lines = [brief.replace("\n", " "), *getattr(error, "__notes__", ())]
    return for_typing("\n".join(line for line in lines if _IN_PYTHON not in line))
