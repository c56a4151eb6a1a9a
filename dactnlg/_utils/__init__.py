"""What has nothing to do with language, and any room may use.

`hashing` gives equal data equal codes on every machine; `files` replaces a file at once; `resources` finds the data
cards and configurations that come with the package; `spool` keeps long sequences in temporary files; `memory` is a
bounded cache for several threads; `processors` counts the processors that may be used; `cluster` starts Ray.
"""
