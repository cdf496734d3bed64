"""One scope's share of a search: who is among whom, and which rows are best by words."""

from pathlib import Path

import numpy as np
import pytest

from holdfast import Memory
from holdfast.engine.cache import part

CHANCE = np.random.default_rng(4)


def some(count: int, below: int) -> part.Positions:
    """Positions in order, each once."""
    return np.sort(CHANCE.choice(below, count, replace=False))


@pytest.mark.parametrize(("found", "chosen"), [(0, 0), (0, 9), (9, 0), (5, 80), (80, 5), (60, 60)])
def test_those_found_are_where_they_stand_among_the_chosen(found: int, chosen: int) -> None:
    one, other = some(found, 100), some(chosen, 100)
    places = part.among(one, other)
    assert places.tolist() == [at for at, each in enumerate(other.tolist()) if each in one]
    assert part.held(one, other).nonzero()[0].tolist() == places.tolist()


def test_the_best_by_words_are_the_same_where_long_lists_are_cut_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cut = 0
    for _ in range(50):
        lists = [some(size, 400) for size in (30, 60, 200, 300)]
        rarity = np.array([6.0, 5.0, 0.6, 0.3]) + CHANCE.random(4) / 4
        worth = CHANCE.uniform(0.8, 1.0, 400)
        whole, short = np.zeros(400), np.zeros(400)
        for score, long in ((whole, 1000), (short, 100)):
            monkeypatch.setattr(part, "LONG", long)
            part.add_words(score, lists, rarity, 10, lambda rare, at, of=worth: rare * of[at])  # type: ignore[misc]
        assert part.top(short, 10).tolist() == part.top(whole, 10).tolist()
        cut += bool(np.count_nonzero(short) < np.count_nonzero(whole))
    assert cut == 50


def test_a_filter_that_leaves_nothing_finds_nothing_after_uses_were_counted(
    tmp_path: Path,
) -> None:
    with Memory("a", f"sqlite:///{tmp_path / 'a.db'}", embedder="hashing") as memory:
        memory.remember("the tea is green")
        assert memory.recall("green tea")
        assert not memory.recall("green tea", tags=["none"])
