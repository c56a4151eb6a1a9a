"""Chats: people talk with one of several systems, chosen at random and anonymous, and rate it.

The interactive platform of Ghandeharioun et al. 2019 (section 4.2). `study` is the design, fixed in advance; `storage`
keeps messages, votes and ratings in the database of the study (SQLite or PostgreSQL); `replies` lets the systems answer
one request at a time. `chatter` has the pages behind each person's link, `owner` the page of the study's owner;
`application` assembles the server, and `export` writes conversations, votes and ratings. Pages work without JavaScript;
with `static/chat.js` they are updated in place.
"""
