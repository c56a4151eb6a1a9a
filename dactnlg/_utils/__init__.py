"""Utilities that are independent of language and may be used by every package.

`hashing` computes hashes that are the same on every machine; `files` replaces files atomically; `resources` finds the
data cards and configurations shipped with the package; `spool` keeps long sequences in temporary files; `memory` is a
bounded thread-safe cache; `processors` counts the usable processors; `cluster` starts Ray.
"""
