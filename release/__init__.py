"""Releases that can be trusted: `make dist` builds what users install and tries it. docs/release.md: what it proves.

Nothing is uploaded from here.
"""
