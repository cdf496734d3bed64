"""A model that was taught to read: does a statement end another, is a sentence worth keeping?"""

from pathlib import Path

import pytest

from benchmarks.contradictions import cases
from holdfast.embed.files import DATA
from holdfast.extract import taught
from holdfast.extract.taught import Taught, said
from holdfast.replacing import SURE

LESSONS = Path(__file__).parents[2] / "tools" / "lessons"


@pytest.fixture(scope="module")
def model() -> Taught:
    return Taught()


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The user rents a flat in Ghent.", "The user bought a house in Bruges and moved in."),
        ("Our error tracker is Sentry.", "We replaced Sentry with GlitchTip, it got too dear."),
        ("The user is learning the harp.", "The user gave the harp up, their hands hurt."),
        ("The demo is on Tuesday.", "Correction: I meant Thursday for the demo."),
        ("Olga leads the mobile team.", "Olga stepped down, Petr leads the mobile team now."),
    ],
)
def test_a_change_is_seen_in_whatever_words(model: Taught, earlier: str, later: str) -> None:
    assert model.sureness([(earlier, later)])[0] > 0.5


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
    taught.opened.cache_clear()
    monkeypatch.setattr(Taught.__init__, "__defaults__", (tmp_path,))
    assert taught.opened() is None
    monkeypatch.setattr(Taught.__init__, "__defaults__", (DATA,))
    taught.opened.cache_clear()
    assert taught.opened() is not None


@pytest.mark.parametrize(
    "sentence",
    [
        "I can't swim.",
        "We keep two goats and a donkey behind the house.",
        "Code freeze begins on the 15th of December.",
        "Yeah, so the clutch gave up near Lyon and we took the train.",
        "The API key must be rotated every 90 days.",
    ],
)
def test_what_tells_something_is_worth_keeping(model: Taught, sentence: str) -> None:
    assert model.worth([sentence])[0] > 0.5


@pytest.mark.parametrize(
    "sentence",
    [
        "That sounds like so much fun!",
        "Animals bring so much joy into our lives.",
        "Could you send me the link?",
        "It was such a special moment for all of us.",
        "Let me take a look at that file first.",
    ],
)
def test_small_talk_is_not(model: Taught, sentence: str) -> None:
    assert model.worth([sentence])[0] < 0.5


def test_nothing_of_the_suite_was_taught() -> None:
    lessons = {
        (case.first, case.second) for file in LESSONS.glob("changes/*.txt") for case in cases(file)
    }
    assert len(lessons) > 20000
    held_out = {
        (case.first, case.second)
        for file in LESSONS.glob("held_out/changes/*.txt")
        for case in cases(file)
    }
    assert len(held_out) > 1500
    suite = {(case.first, case.second) for case in cases()}
    assert not lessons & (suite | held_out)
