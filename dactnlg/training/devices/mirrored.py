"""Training on several devices with TensorFlow: the choice of strategy, and the step that every device runs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from dactnlg.training.devices.workers import Cluster

if TYPE_CHECKING:
    from dactnlg.models.base import NeuralModel


def choose_strategy(cluster: Cluster) -> Any:
    """Return `MirroredStrategy`, or `MultiWorkerMirroredStrategy` for several processes, on the first devices.

    Raises:
        WorkerError: there are too few devices.
        RuntimeError: TensorFlow cannot connect the processes.
    """
    cards = tf.config.list_physical_devices("GPU")
    if cluster.workers == 1:
        kind = "GPU" if cards else "CPU"
        cluster.check_devices(len(tf.config.list_logical_devices(kind)), "tensorflow")
        return tf.distribute.MirroredStrategy([f"{kind}:{number}" for number in range(cluster.devices)])
    # A worker process uses all visible GPUs, or its CPU as one device.
    cluster.check_devices(len(cards) or 1, "tensorflow")
    if cards:
        tf.config.set_visible_devices(cards[: cluster.devices], "GPU")
    task = {"type": "worker", "index": cluster.rank}
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": list(cluster.addresses)}, "task": task})
    return tf.distribute.MultiWorkerMirroredStrategy()


def replica() -> int:
    """Return the number of the device that calls this in `strategy.run`, among those of all processes."""
    context: Any = tf.distribute.get_replica_context()
    return int(context.replica_id_in_sync_group)


def program(strategy: Any, model: NeuralModel, *, training: bool) -> Callable[[Any], Any]:
    """Return a function from a batch's parts, one per device, to the loss of the whole batch.

    With `training` it also takes a gradient step.
    """

    def on_device(batch: dict[str, Any]) -> Any:
        """Return the loss of the whole batch; in training, take the step with all devices' gradients."""
        context = tf.distribute.get_replica_context()
        plus = tf.distribute.ReduceOp.SUM
        own = tf.reduce_sum(tf.cast(batch["lengths"], "float32") * batch["weights"])
        # A device's loss is the mean over the words of its own rows; the batch's is that over all words.
        share = own / tf.maximum(context.all_reduce(plus, own), 1.0)
        with tf.GradientTape() as tape:
            loss = model(batch, training=training) * share
            scaled = model.optimizer.scale_loss(loss) if training else loss
        if training:
            variables = model.trainable_variables
            gradients = tape.gradient(scaled, [variable.value for variable in variables])
            # Sum before clipping. After clipping the optimizer sums the devices' gradients again, hence the division.
            whole = context.all_reduce(plus, [tf.convert_to_tensor(gradient) for gradient in gradients])
            parts = strategy.num_replicas_in_sync
            model.optimizer.apply_gradients([(g / parts, v) for g, v in zip(whole, variables, strict=True)])
        return context.all_reduce(plus, loss)

    def on_all(batch: Any) -> Any:
        return strategy.experimental_local_results(strategy.run(on_device, (batch,)))[0]

    return tf.function(on_all, reduce_retracing=True)
