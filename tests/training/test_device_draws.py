"""The draws of several devices: dropout and latent variables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from test_workers import FREE_BITS

DRAWS = (
    FREE_BITS.partition("tokens = ")[0]
    + """
group = TensorFlowGroup(Cluster(2))
with group.scope():
    model = build_model("cvae", Sizes(11, 5, 9), hidden_size=8, embedding_size=6, latent_size=8)

def draws():
    context = group.strategy.run(lambda: keras.random.normal((2,), seed=model.noise))
    return [part.numpy().tolist() for part in group.strategy.experimental_local_results(context)]

for _ in range(2):
    with group.scope():
        group.reseed(model, 7)
    print([draws(), draws()])
"""
)


def test_every_device_draws_numbers_of_its_own(repository: Path) -> None:
    there = {**os.environ, "KERAS_BACKEND": "tensorflow", "PYTHONPATH": str(repository)}
    done = subprocess.run([sys.executable, "-c", DRAWS], capture_output=True, text=True, timeout=300, env=there)
    assert done.returncode == 0, done.stderr
    first, again = map(json.loads, done.stdout.splitlines())
    assert first == again, "the same seed"
    assert len({tuple(numbers) for step in first for numbers in step}) == 4
