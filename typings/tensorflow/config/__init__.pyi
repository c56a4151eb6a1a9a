from collections.abc import Sequence

from tensorflow.config import experimental as experimental

class PhysicalDevice:
    name: str
    device_type: str

class LogicalDevice:
    name: str
    device_type: str

def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]: ...
def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]: ...
def set_visible_devices(devices: Sequence[PhysicalDevice], device_type: str | None = None) -> None: ...
