"""A model that reads two statements: does the later end the earlier?"""

from pathlib import Path

import pytest

from benchmarks.contradictions import cases
from holdfast.embed.files import DATA
from holdfast.extract import changes
from holdfast.extract.changes import SURE, Taught, said

LESSONS = Path(__file__).parents[2] / "tools" / "changes"


@pytest.fixture(scope="module")
def model() -> Taught:
    return Taught()


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The user rents a flat in Ghent.", "The user bought a house in Bruges and moved in."),
        ("Our error tracker is Sentry.", "Sentry got too dear, we track errors in GlitchTip now."),
        ("The user is learning the harp.", "The user gave the harp up, their hands hurt."),
        ("The demo is on Tuesday.", "Correction: I meant Thursday for the demo."),
        ("Olga leads the mobile team.", "Olga stepped down, Petr leads the mobile team now."),
    ],
)
def test_a_change_is_seen_in_whatever_words(model: Taught, earlier: str, later: str) -> None:
    assert model.sureness([(earlier, later)])[0] >= SURE


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The user speaks Greek.", "The user is learning Korean, too."),
        ("The user lives in Ghent.", "The user's brother moved to Bruges."),
        ("Staging runs on port 8080.", "Production was moved to port 9443."),
        ("Olga leads the mobile team.", "Olga gave a talk about the mobile app."),
        ("The user plays the harp.", "The user used to play the harp at weddings, years ago."),
        ("The user plays the harp.", "The user plays the harp."),
        ("The user may buy a boat.", "Ghent has a large harbour."),
    ],
)
def test_what_stays_true_stays(model: Taught, earlier: str, later: str) -> None:
    assert model.sureness([(earlier, later)])[0] < SURE


def test_a_pair_is_read_alone_as_in_company(model: Taught) -> None:
    some = [("The user has a dog.", "The dog died."), ("We use Go.", "We rewrote it all in Rust.")]
    together, alone = model.sureness(some), [model.sureness([pair])[0] for pair in some]
    assert together == pytest.approx(alone, abs=1e-5)
    assert model.sureness([]) == []


def test_who_says_i_is_named() -> None:
    assert said("I moved to Rome", "Ann") == "Ann moved to Rome"
    assert said("I moved to Rome", "user") == "The user moved to Rome"
    assert said("i'm vegan now", None) == "The user is vegan now"


def test_without_its_files_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes.opened.cache_clear()
    monkeypatch.setattr(Taught.__init__, "__defaults__", (tmp_path,))
    assert changes.opened() is None
    monkeypatch.setattr(Taught.__init__, "__defaults__", (DATA,))
    changes.opened.cache_clear()
    assert changes.opened() is not None


def test_nothing_of_the_suite_was_taught() -> None:
    taught = {(case.first, case.second) for file in LESSONS.glob("*.txt") for case in cases(file)}
    assert len(taught) > 3000
    assert not taught & {(case.first, case.second) for case in cases()}
