"""Serving: a trained run behind a dialogue system, over HTTP or in its own process.

`service` is the HTTP application: it generates, checks and says what it serves, with limits on everything that a client
sends. The adapters speak what frameworks expect (Rasa, ConvLab). `chat` lets people talk with runs and rate them. What
this room needs besides the package comes with the extra `serve`; chats need `studies`.
"""
