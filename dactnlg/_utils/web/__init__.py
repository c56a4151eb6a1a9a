"""What all web servers of the package share; needs the extra `serve` or `studies`.

`application` assembles an application: `limits` rejects requests that are too long, too slow or too many before
anything else sees them, `problems` answers every error in one form (RFC 9457), `pages` renders templates and serves
files under a policy that lets a browser run and fetch nothing else. `tokens` makes and compares secrets. `background`
runs long work of a request in a thread. `server` binds a port, serves, and drains when it is told to stop;
`connections` closes silent connections.
"""
