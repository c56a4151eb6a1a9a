"""The pages of a service: a playground at `/` and a reference at `/docs`, in plain HTML with local scripts."""
