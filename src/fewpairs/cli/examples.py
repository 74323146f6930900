"""What ``--help`` shows of each command, typed as a person would; the tests run all of them."""

from __future__ import annotations

_EXAMPLES = {
    "demo": ["fewpairs demo --report demo.html"],
    "match": [
        "fewpairs match a.csv b.csv --column name --above 0.9 -o matches.csv --report page.html",
        "fewpairs match a.csv b.csv --column name:2 --column city --above 0.8 --one-to-one -o -",
        "fewpairs match a.csv b.csv --column name --above 0.9 --search --plan",
    ],
    "dedupe": [
        "fewpairs dedupe people.csv --column name --id id --above 0.9 -o pairs.csv",
        "fewpairs dedupe people.csv --column name --above 0.9 -o pairs.csv --groups groups.csv",
        "fewpairs dedupe people.csv --column name --similarity score:alike --above 0.9 -o p.csv",
    ],
    "cluster": [
        "fewpairs cluster people.csv --column name --id id --threshold 0.7 -o clusters.csv",
        "fewpairs cluster people.csv --column name --threshold 0.7 --budget 0.5 --plan",
    ],
    "neighbors": [
        "fewpairs neighbors people.csv --column name --id id -k 3 -o neighbors.csv",
        "fewpairs neighbors a.csv --others b.csv --column name -k 1 -o nearest.csv",
    ],
    "inspect": [
        "fewpairs inspect people.csv --column name --similarity jaro_winkler",
        "fewpairs inspect people.csv --column name --similarity score:alike --sample 5",
    ],
    "plan": [
        "fewpairs plan people.csv --column name --budget 0.5",
        'fewpairs plan people.csv --column name --landmarks 3 --cost "0.002 USD"',
    ],
    "approximate": [
        "fewpairs approximate people.csv --column name --id id --landmarks 3 -o people.fewpairs",
        "fewpairs approximate people.csv --column name --budget 0.9 -o p.fewpairs --report p.html",
    ],
    "query": [
        "fewpairs query people.fewpairs --item a1 -k 3",
        'fewpairs query people.fewpairs --text "Anna Smit" -k 3',
    ],
    "report": ["fewpairs report people.fewpairs -o people.html"],
    "vectors": ["fewpairs vectors texts.txt --dimensions 2 --min-count 1 -o vectors.npz"],
}


def epilog(command: str) -> str:
    """Return the examples of a command, as the end of its help."""
    # \b keeps the lines as they are.
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in _EXAMPLES[command])])


def examples() -> list[str]:
    """Return all examples, in an order in which they can be run one after the other."""
    return [line for lines in _EXAMPLES.values() for line in lines]
