"""Reports of studies: what `analysis` found as text, Markdown, LaTeX, or one page that needs nothing but itself.

`parts` is what a report consists of, tables and scatter plots, each with the name of its method; one file for each
question says what stands in them; `write` draws them.
"""
