"""Other libraries on the same cases: `make bench-peers` runs them, docs/benchmarks.md shows what they said.

cases.json -> truth.py (truths.json) -> run.py (one.py in a process for each tool and case; results.json) -> page.py.
"""
