"""Reports for people: a page of scores (HTML, Markdown) and a comparison of two systems (text)."""
