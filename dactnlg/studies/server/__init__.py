"""The server of a study: pages for raters, each behind a personal link, and a page for the owner behind a token.

`application` assembles the app and `session` serves it, `links` creates the raters' links, and `questions` turns a page
of a study into a form and a form into answers. `rater` and `owner` define the routes; `templates/` and `static/` are
the HTML, CSS and JavaScript. The pages work without scripts; `static/rate.js` adds keys and a slider. A rater's pages
never name a system: forms refer to sentences and criteria by number.
"""
