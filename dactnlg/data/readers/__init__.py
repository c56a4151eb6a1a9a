"""One reader a corpus format: `read(path, notes) -> list[Example]`."""
