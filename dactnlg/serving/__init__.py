"""Serving: a trained run as part of a dialogue system, over HTTP or in the system's own process.

`service` is the HTTP application, which generates, checks and lists models, with limits on everything that a client
sends. Adapters implement the interfaces of frameworks (Rasa, ConvLab). In `chat` people talk with runs and rate them.
The dependencies come with the extra `serve`; chats also need `studies`.
"""
