"""Imports: turning templates of other frameworks into acts, training pairs and a configuration.

`rasa`, `ovos` and `home_assistant` each read one kind of source; `slot_map` has names and values for the slots; `pairs`
writes the files.
"""
