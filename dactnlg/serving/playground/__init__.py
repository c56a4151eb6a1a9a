"""The pages of a service: a playground at `/`, and its reference at `/docs`; plain HTML and scripts of its own."""
