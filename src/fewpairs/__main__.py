"""``python -m fewpairs``: the command, where its script is not on the path."""

from __future__ import annotations

from fewpairs.cli import main

if __name__ == "__main__":
    main()
