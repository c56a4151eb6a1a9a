"""What every web server of the package has in common; it comes with the extras `serve` and `studies`.

`application` puts an application together: `limits` stops requests that are too long, too slow or too many before
anything else sees them, `problems` answers every error in one form (RFC 9457), `pages` renders templates and serves
files under a policy that lets a browser run and fetch nothing else. `tokens` makes and compares secrets. `server` binds
a port, serves, and drains when it is told to stop; `connections` closes those that say nothing.
"""
