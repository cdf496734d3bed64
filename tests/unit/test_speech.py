from datetime import datetime, timezone

import pytest

from holdfast import sentences, speech, when

MONDAY = datetime(2023, 5, 8, 13, 56, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("said", "resolved"),
    [
        ("I'm tired and I am happy", "Ann is tired and they are happy"),
        ("I've seen it", "Ann has seen it"),
        ("I really love my cat", "Ann really loves their cat"),
        ("My cat likes me", "Ann's cat likes them"),
        ("I went home", "Ann went home"),
        ("I study and I teach", "Ann studies and they teach"),
        ("I no longer smoke", "Ann no longer smokes"),
        ("I can't swim", "Ann can't swim"),
        ("I'd been there", "Ann had been there"),
        ("Bob likes tea", "Bob likes tea"),
        ('Bob told me "I am off"', 'Bob told Ann "I am off"'),
    ],
)
def test_first_person_becomes_the_speaker(said: str, resolved: str) -> None:
    assert speech.resolved(said, "Ann") == resolved


@pytest.mark.parametrize(
    ("said", "dated"),
    [
        ("it was yesterday", "it was on 2023-05-07"),
        ("it is tomorrow", "it is on 2023-05-09"),
        ("two weeks ago", "around 2023-04-24"),
        ("last Friday", "on 2023-05-05"),
        ("next month", "in 2023-06"),
        ("last year", "in 2022"),
        ("this weekend", "on the weekend of 2023-05-13"),
        ("in three days", "on 2023-05-11"),
        ("the day after tomorrow", "on 2023-05-10"),
        ("999 years ago", "in 1024"),
        ("since last week", "since the week of 2023-05-01"),
        ("by tomorrow", "by 2023-05-09"),
    ],
)
def test_relative_dates_become_dates(said: str, dated: str) -> None:
    assert when.resolved(said, MONDAY) == dated


def test_only_the_past_moves_when_it_happened() -> None:
    assert when.happened("I ran yesterday", MONDAY).day == 7
    assert when.happened("I will run next week", MONDAY) == MONDAY
    assert when.happened("I run", MONDAY) == MONDAY


def test_what_is_moved_to_a_date_did_not_happen_on_it_and_who_moved_to_a_place_did() -> None:
    assert when.happened("We moved the launch to May 3", MONDAY) == MONDAY
    assert when.happened("They pushed the demo to Friday", MONDAY) == MONDAY
    assert when.happened("I moved to Lisbon yesterday", MONDAY).day == 7
    assert when.happened("I moved to Marseille in March 2021", MONDAY).year == 2021


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Lee has 3.5 cats, e.g. Tom.", ["Dr. Lee has 3.5 cats, e.g. Tom."]),
        ("- first\n2. second", ["first", "second"]),
        ("一。二！", ["一。", "二！"]),
        ("```code```  \n> quote\n$ ls\nwords", ["words"]),
        ("", []),
    ],
)
def test_text_falls_into_sentences(text: str, parts: list[str]) -> None:
    assert sentences.split(sentences.spoken(text)) == parts
