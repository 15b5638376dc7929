"""Sphinx reads this for `make docs`; pages come from handbook/stage.py, which also says which kernel runs them."""

from __future__ import annotations

import logging

import tightrope
from handbook.stage import STAGED

logging.getLogger("traitlets").setLevel(logging.WARNING)  # the styles of a11y_pygments make every logger speak

project = "Tightrope"
author = "The Tightrope authors"
copyright = author
version = release = tightrope.__version__

extensions = ["myst_nb"]
root_doc = "index"
exclude_patterns = ["_static"]
nitpicky = True
highlight_language = "text"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

myst_enable_extensions = ["amsmath", "attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
myst_update_mathjax = False

nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 180
nb_merge_streams = True
nb_number_source_lines = False

html_theme = "furo"
html_title = f"Tightrope {release}"
html_static_path = [str(STAGED / "_static")]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = None
mathjax_path = "mathjax/tex-chtml.js"
mathjax3_config = {"options": {"enableMenu": False}}
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5f8b", "color-brand-content": "#1f5f8b"},
    "dark_css_variables": {"color-brand-primary": "#7fb8e0", "color-brand-content": "#7fb8e0"},
    "footer_icons": [],
}
