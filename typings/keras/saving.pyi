from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")

def register_keras_serializable(package: str = "Custom", name: str | None = None) -> Callable[[type[T]], type[T]]: ...

# The class that the file names.
def load_model(
    filepath: Any, custom_objects: Mapping[str, type] | None = None, compile: bool = True, safe_mode: bool = True
) -> Any: ...
