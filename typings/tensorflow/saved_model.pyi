from collections.abc import Mapping
from typing import Any

from tensorflow import Module

def save(obj: Module, export_dir: str, signatures: Mapping[str, Any] | None = None) -> None: ...
def load(export_dir: str) -> Any: ...
