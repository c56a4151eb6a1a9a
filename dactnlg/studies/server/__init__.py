"""The server of a study: pages for raters, each behind a link of their own, and one for the study's owner.

`links` makes the links, `answers` checks what a form says, `rater` and `owner` are the pages, `application` puts them
together. Raters see neither systems nor each other nor results.
"""
