import logging
from pathlib import Path

class HTTPDownloader:
    def __init__(self, progressbar: bool = False, chunk_size: int = 1024, *, timeout: float = 30) -> None: ...

def get_logger() -> logging.Logger: ...
def os_cache(project: str) -> Path: ...
def retrieve(
    url: str,
    known_hash: str | None,
    fname: str | None = None,
    path: str | Path | None = None,
    processor: None = None,
    downloader: HTTPDownloader | None = None,
    progressbar: bool = False,
) -> str: ...
