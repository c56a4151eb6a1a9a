"""Imports: the templates of other frameworks become acts, training pairs and a configuration.

`rasa`, `ovos` and `home_assistant` each read one kind of source; `slot_map` says what the slots are called and what
values they have; `pairs` makes the files.
"""
