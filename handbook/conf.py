"""Sphinx reads this for `make docs`; pages come from handbook/stage.py, which also says which kernel runs them."""

from __future__ import annotations

import logging
from functools import partial
from tempfile import gettempdir
from typing import Any
from uuid import uuid4

from jupyter_client import AsyncKernelManager
from myst_nb.core.execute import direct

import tightrope
from handbook.stage import ROOT, STAGED
from handbook.typeset import typeset

logging.getLogger("traitlets").setLevel(logging.WARNING)  # the styles of a11y_pygments make every logger speak

HANG = 3600  # seconds, to end what hangs: nothing is said about how long a page takes


class Kernel(AsyncKernelManager):  # type: ignore[misc]
    """What runs a page, spoken to by sockets that are files: of two that begin at once, both may find one port free."""

    def __init__(self, **given: Any) -> None:
        super().__init__(transport="ipc", connection_file=f"{gettempdir()}/page-{uuid4().hex}.json", **given)


direct.single_nb_execution = partial(direct.single_nb_execution, kernel_manager_class=Kernel, startup_timeout=HANG)

project = "Tightrope"
author = "The Tightrope authors"
copyright = author
version = release = tightrope.__version__

extensions = ["myst_nb"]
root_doc = "index"
exclude_patterns = ["_static"]
nitpicky = True
smartquotes_action = "q"  # dashes are those of options: --json
highlight_language = "text"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

myst_enable_extensions = ["amsmath", "attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
myst_update_mathjax = False

nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = HANG
nb_merge_streams = True
nb_number_source_lines = False

html_theme = "furo"
html_title = f"Tightrope {release}"
html_static_path = [str(STAGED / "_static")]
html_favicon = str(ROOT / "src" / "tightrope" / "explore" / "page" / "icon.svg")
html_css_files = ["site.css"]
html_js_files = ["wide.js"]
html_copy_source = False
html_use_index = False
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = None
mathjax_path = "mathjax/tex-chtml.js"
mathjax3_config = {"chtml": {"scale": 0.95}, "options": {"enableMenu": False}}
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#1f5f8b",
        "color-brand-content": "#1f5f8b",
        "color-admonition-title": "#1f5f8b",
        "color-admonition-title-background": "#e4eff6",
        "color-removed": "#a3152e",
        "color-added": "#0a5d2c",
    },
    "dark_css_variables": {
        "color-brand-primary": "#7fb8e0",
        "color-brand-content": "#7fb8e0",
        "color-admonition-title": "#7fb8e0",
        "color-admonition-title-background": "#1d2f3b",
        "color-removed": "#ff9e8a",
        "color-added": "#9fdc6c",
    },
    "footer_icons": [],
}


def setup(app: Any) -> None:
    app.connect("doctree-read", typeset)
