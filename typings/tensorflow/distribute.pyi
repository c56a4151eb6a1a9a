from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from tensorflow import Tensor

class ReduceOp:
    SUM: ReduceOp
    MEAN: ReduceOp

class ValueContext:
    replica_id_in_sync_group: int

class ReplicaContext:
    def all_reduce(self, reduce_op: ReduceOp, value: Any) -> Any: ...

class Strategy:
    num_replicas_in_sync: int
    def scope(self) -> AbstractContextManager[Any]: ...
    def run(self, fn: Callable[..., Any], args: tuple[Any, ...] = ()) -> Any: ...
    def reduce(self, reduce_op: str | ReduceOp, value: Any, axis: int | None) -> Tensor: ...
    def experimental_local_results(self, value: Any) -> tuple[Any, ...]: ...
    def experimental_distribute_values_from_function(self, value_fn: Callable[[ValueContext], Any]) -> Any: ...

class MirroredStrategy(Strategy):
    def __init__(self, devices: Sequence[str] | None = None) -> None: ...

class MultiWorkerMirroredStrategy(Strategy):
    def __init__(self) -> None: ...

def get_replica_context() -> ReplicaContext: ...
