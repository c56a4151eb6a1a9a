"""Reports of studies: the results of `analysis` as text, Markdown, LaTeX, CSV, or a self-contained HTML page.

`parts` defines what a report consists of: tables and scatter plots, each table naming its method. `content` arranges
them, one module per topic fills them, and `write` renders them.
"""
