from collections.abc import Callable
from typing import Any

def map_structure(func: Callable[..., Any], *structure: Any) -> Any: ...
