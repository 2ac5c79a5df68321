# SPDX-License-Identifier: GPL-2.0
"""Sphinx configuration; scripts/htmldocs.sh runs it."""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

project = 'hwheel'
author = 'The hwheel authors'
project_copyright = 'the hwheel authors; GPL-2.0'
extensions = []
exclude_patterns = ['ABI']
nitpicky = False
html_theme = 'alabaster'
html_theme_options = {'page_width': '60em', 'fixed_sidebar': True}
html_show_sourcelink = False
html_copy_source = False
primary_domain = 'c'
highlight_language = 'none'
