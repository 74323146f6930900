"""Benchmarks, one folder a subject; `python -m benchmarks` lists them."""
