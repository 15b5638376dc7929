"""The site: docs/ with its blocks executed, and the reference made from the package.

stage.py (pages as Sphinx reads them) -> conf.py (Sphinx, furo, MyST-NB) -> checked.py (links, anchors, requests).
blocks.py says what a page asks to be run; the tests run the same.
"""
