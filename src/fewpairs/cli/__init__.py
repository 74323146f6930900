"""The command ``fewpairs``: its commands, by kind, and the options that they share."""

from fewpairs.cli.app import main

__all__ = ["main"]
