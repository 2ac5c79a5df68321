# SPDX-License-Identifier: GPL-2.0
"""Sphinx configuration; scripts/htmldocs.sh runs it."""

import os
import sys

# The kernel's own extensions: the directive kernel-doc, and links to functions
kernel = os.environ['KERNEL_SOURCE']
os.environ['srctree'] = kernel  # for the extensions of newer kernels
sys.path.insert(0, kernel + '/Documentation/sphinx')

project = 'hwheel'
author = 'The hwheel authors'
project_copyright = 'the hwheel authors; GPL-2.0'
extensions = ['kerneldoc', 'automarkup', 'sphinx.ext.graphviz']
kerneldoc_bin = kernel + '/scripts/kernel-doc'
kerneldoc_srctree = os.environ['HWHEEL_SOURCE']
graphviz_output_format = 'svg'
exclude_patterns = ['ABI', 'hwheel.4.rst']
nitpicky = False
html_theme = 'alabaster'
html_theme_options = {'page_width': '64em', 'fixed_sidebar': True}
html_static_path = ['hwheel.css']
html_css_files = ['hwheel.css']
html_show_sourcelink = False
html_copy_source = False
primary_domain = 'c'
highlight_language = 'none'
