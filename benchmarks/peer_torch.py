"""The peer: an SC-LSTM in PyTorch, written as such models usually are.

A module loops over time; training pads a batch to its longest sentence; beam search runs in Python, one act at a time,
and stops as soon as its best beam is finished. Training and search are each written in two ways:

- as in the published SC-LSTMs (RNNLG, its ports to PyTorch, ConvLab-2): every hypothesis takes its step alone, and the
  continuations are sorted in a list (`generate`); a training step does all its work word by word, including the output
  layer (`forward` of a peer that is not `hoisted`);
- as by somebody who knows what is slow in PyTorch: all beams of a step are one batch, and one `topk` selects the best
  continuations (`generate_batched`); training computes the projections of words and the output layer for all steps at
  once.

Sizes, data, batches, loss and weights are those of dactnlg, so that both generate the same sentences and do the same
work. `benchmarks/decoding.py` runs the peer and scores its sentences, `benchmarks/training.py` trains it; it needs the
extra `bench`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from dactnlg.text.vocabulary import BOS_ID, EOS_ID, PAD_ID, UNK_ID

if TYPE_CHECKING:
    from dactnlg.data.batching import Batch

State = tuple[Tensor, Tensor, Tensor]


class PeerSCLSTM(nn.Module):
    """The semantically controlled LSTM (Wen et al. 2015b, section 3.1).

    Args:
        vocabulary: number of words, V.
        act: size of the DA vector, D.
        hidden: number of hidden units, H.
        embedding: size of word vectors.
        dropout: rate for the hidden state that the output layer reads.
        hoisted: whether what does not depend on the state is computed for all words at once, outside the loop.
    """

    def __init__(
        self,
        vocabulary: int,
        act: int,
        hidden: int = 100,
        embedding: int = 100,
        dropout: float = 0.0,
        hoisted: bool = True,
    ) -> None:
        super().__init__()
        self.hoisted = hoisted
        self.hidden, self.alpha, self.eta, self.xi = hidden, 0.5, 1e-4, 100.0
        self.embedding = nn.Embedding(vocabulary, embedding)
        self.word_gates = nn.Linear(embedding, 4 * hidden)
        self.word_reading = nn.Linear(embedding, act)
        self.hidden_gates = nn.Linear(hidden, 4 * hidden, bias=False)
        self.hidden_reading = nn.Linear(hidden, act, bias=False)
        self.act = nn.Linear(act, hidden, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(hidden, vocabulary)

    def start(self, act: Tensor) -> State:
        """Return the state before the first word for acts, (B, D)."""
        zeros = act.new_zeros(len(act), self.hidden)
        return zeros, zeros, act

    def step(self, gates: Tensor, reading: Tensor, state: State) -> State:
        """Take one step, given what the word adds to the gates, (B, 4H), and to the reading gate, (B, D)."""
        h, c, d = state
        d = torch.sigmoid(reading + self.alpha * self.hidden_reading(h)) * d
        i, f, o, g = (gates + self.hidden_gates(h)).chunk(4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g) + torch.tanh(self.act(d))
        return torch.sigmoid(o) * torch.tanh(c), c, d

    def forward(self, act: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits, (B, T, V), and the act's states, (B, T + 1, D)."""
        words = self.embedding(tokens)
        state = self.start(act)
        hidden, logits, acts = [], [], [act]
        if not self.hoisted:
            for t in range(tokens.shape[1]):
                state = self.step(self.word_gates(words[:, t]), self.word_reading(words[:, t]), state)
                logits.append(self.output(self.dropout(state[0])))
                acts.append(state[2])
            return torch.stack(logits, dim=1), torch.stack(acts, dim=1)
        gates, reading = self.word_gates(words), self.word_reading(words)
        for t in range(tokens.shape[1]):
            state = self.step(gates[:, t], reading[:, t], state)
            hidden.append(state[0])
            acts.append(state[2])
        return self.output(self.dropout(torch.stack(hidden, dim=1))), torch.stack(acts, dim=1)

    def loss(self, batch: Batch) -> Tensor:
        """Return the same loss as `dactnlg.models.sclstm.SCLSTM.batch_loss`."""
        act, tokens, targets, lengths, weights = (
            torch.from_numpy(np.ascontiguousarray(batch[name]))
            for name in ("act", "tokens", "targets", "lengths", "weights")
        )
        logits, acts = self(act, tokens)
        times = torch.arange(tokens.shape[1])[None]
        real = (times < lengths[:, None]) * weights[:, None]
        entropy = functional.cross_entropy(logits.flatten(0, 1), targets.long().flatten(), reduction="none")
        change = self.eta * self.xi ** (acts[:, 1:] - acts[:, :-1]).square().sum(-1).add(1e-10).sqrt()
        rows = torch.arange(len(act))
        left = acts[rows, lengths.long()].square().sum(-1).add(1e-10).sqrt()
        penalty = left + (change * (times < lengths[:, None])).sum(1)
        total = (entropy.view_as(real) * real).sum() + (penalty * (lengths > 0) * weights).sum()
        return total / real.sum().clamp(min=1.0)

    @torch.inference_mode()
    def generate(self, act: Tensor, width: int = 10, longest: int = 80) -> tuple[list[int], float]:
        """Return the best sentence found for an act, (D,), as token numbers, with its log probability."""
        never = [PAD_ID, BOS_ID, UNK_ID]
        beams = [(0.0, [BOS_ID], self.start(act[None]))]
        for _ in range(longest):
            found = []
            for score, sentence, state in beams:
                if sentence[-1] == EOS_ID:
                    found.append((score, sentence, state))
                    continue
                words = self.embedding(torch.tensor(sentence[-1:]))
                after = self.step(self.word_gates(words), self.word_reading(words), state)
                log_probs = torch.log_softmax(self.output(after[0]), dim=1)[0]
                log_probs[never] = -1e9
                best, tokens = log_probs.topk(width)
                found += [
                    (score + b, [*sentence, t], after) for b, t in zip(best.tolist(), tokens.tolist(), strict=True)
                ]
            beams = sorted(found, key=lambda beam: -beam[0])[:width]
            if beams[0][1][-1] == EOS_ID:
                break
        score, sentence, _ = beams[0]
        return [token for token in sentence[1:] if token != EOS_ID], score

    @torch.inference_mode()
    def generate_batched(self, act: Tensor, width: int = 10, longest: int = 80) -> tuple[list[int], float]:
        """Return the same as `generate`, with the beams of a step as one batch."""
        state = self.start(act[None].expand(width, -1))
        scores = torch.full((width,), -1e9)
        scores[0] = 0.0
        tokens = torch.full((width,), BOS_ID)
        sentences: list[list[int]] = [[] for _ in range(width)]
        finished = torch.zeros(width, dtype=torch.bool)
        frozen = torch.full((self.output.out_features,), -1e9)
        frozen[EOS_ID] = 0.0
        for _ in range(longest):
            words = self.embedding(tokens)
            state = self.step(self.word_gates(words), self.word_reading(words), state)
            log_probs = torch.log_softmax(self.output(state[0]), dim=1)
            log_probs[:, [PAD_ID, BOS_ID, UNK_ID]] = -1e9
            log_probs = torch.where(finished[:, None], frozen, log_probs)
            scores, best = (scores[:, None] + log_probs).flatten().topk(width)
            parents, tokens = best // log_probs.shape[1], best % log_probs.shape[1]
            state = tuple(part[parents] for part in state)  # type: ignore[assignment]
            chosen = zip(parents.tolist(), tokens.tolist(), strict=True)
            sentences = [[*sentences[parent], token] for parent, token in chosen]
            finished = tokens == EOS_ID
            if bool(finished[0]):
                break
        sentence = sentences[0]
        return sentence[: sentence.index(EOS_ID)] if EOS_ID in sentence else sentence, float(scores[0])


def with_weights(weights: Mapping[str, Any], section: Mapping[str, Any]) -> PeerSCLSTM:
    """Return the peer with the sizes and weights of a trained `sclstm`.

    Args:
        weights: by name, as `dactnlg.models.weights.load_arrays` reads them from a run.
        section: the keys of the model's section.
    """
    (vocabulary, embedding), (act, hidden) = weights["embedding"].shape, weights["cell/act"].shape
    peer = PeerSCLSTM(vocabulary, act, hidden, embedding)
    parts: dict[Any, Any] = {
        peer.embedding.weight: weights["embedding"],
        peer.word_gates.weight: weights["projection"][:, : 4 * hidden].T,
        peer.word_gates.bias: weights["bias"][: 4 * hidden],
        peer.word_reading.weight: weights["projection"][:, 4 * hidden :].T,
        peer.word_reading.bias: weights["bias"][4 * hidden :],
        peer.hidden_gates.weight: weights["cell/recurrent"].T,
        peer.hidden_reading.weight: weights["cell/reading"].T,
        peer.act.weight: weights["cell/act"].T,
        peer.output.weight: weights["output_kernel"].T,
        peer.output.bias: weights["output_bias"],
    }
    with torch.no_grad():
        for parameter, array in parts.items():
            parameter.copy_(torch.from_numpy(np.array(array)))
    peer.alpha, peer.eta, peer.xi = section["alpha"], section["eta"], section["xi"]
    return peer.eval()


def learner(peer: PeerSCLSTM) -> Callable[[Batch], float]:
    """Return a function that takes a training step on a batch and returns the loss before it."""
    peer.train()
    optimizer = torch.optim.Adam(peer.parameters(), 0.002)

    def learn(batch: Batch) -> float:
        optimizer.zero_grad()
        loss = peer.loss(batch)
        loss.backward()
        nn.utils.clip_grad_norm_(peer.parameters(), 5.0)
        optimizer.step()
        return float(loss.item())

    return learn


def choose_threads(work: Callable[[], object]) -> int:
    """Set and return the number of threads, 1 or 2, with which PyTorch does some work faster."""
    times = {}
    for threads in (1, 2):
        torch.set_num_threads(threads)
        started = time.perf_counter()
        work()
        times[threads] = time.perf_counter() - started
    best = min(times, key=lambda threads: times[threads])
    torch.set_num_threads(best)
    return best


def generate_all(
    peer: PeerSCLSTM, acts: np.ndarray, *, width: int = 10, batched: bool = False
) -> list[tuple[list[int], float]]:
    """Return the best sentence of every act, (N, D), one after the other."""
    generate = peer.generate_batched if batched else peer.generate
    return [generate(act, width) for act in torch.from_numpy(acts)]
