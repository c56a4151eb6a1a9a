"""Runs: the configuration, folder and provenance of an experiment.

`config.load_config` reads a configuration and reports all mistakes at once; `run.Run` is the folder that training
writes and everything else reads; `provenance` records command, code, packages and machine; `yamlfile` reads YAML with
the line of every key. Nothing here imports a model: a configuration is data.
"""
