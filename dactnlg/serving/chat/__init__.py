"""Chats: people talk with one of several systems, picked at random and without a name, and rate it.

The interactive platform of Ghandeharioun et al. 2019 (section 4.2). `study` is what is decided beforehand, `storage`
keeps what people say, vote and rate in the database of a study (SQLite or PostgreSQL), `replies` lets systems answer
one request after the other. `chatter` has the pages behind each person's link, `owner` that of the study's owner;
`application` puts the server together, and `export` gives away conversations, votes and ratings. Pages work without a
script; `static/chat.js` keeps them in place.
"""
