"""The server of a study: pages for raters behind a link each, and one for the study's owner behind a token.

`application` puts it together and serves it, `links` makes the raters' links, `questions` turns a page of a study into
a form and a form into answers. `rater` and `owner` hold the routes, `templates/` and `static/` what they look like. The
pages work without a script; `static/rate.js` adds keys and a slider. A rater's pages name no system: sentences and
criteria have numbers there.
"""
