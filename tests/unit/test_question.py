"""What a query asks for."""

from datetime import datetime, timezone

import pytest

from holdfast import question

NOW = datetime(2024, 3, 1, tzinfo=timezone.utc)


def asked(query: str) -> question.Question:
    return question.understood(query, NOW)


def parts(query: str) -> list[list[str]]:
    found = asked(query)
    return [[found.terms[place] for place in part] for part in found.asked.parts]


@pytest.mark.parametrize(
    ("query", "about"),
    [
        ("What did you suggest for the garden?", -1),
        ("Remind me what the ratio was", -1),
        ("the list from our last chat", -1),
        ("How do I factorise a quadratic?", -1),
        ("My knee hurts, what can I do?", -1),
        ("How many books did I buy?", 1),
        ("Where did I leave my keys?", 1),
        ("What do we use for the main store?", 1),
        ("Where does Maria work?", 0),
    ],
)
def test_whom_it_asks_about(query: str, about: int) -> None:
    assert asked(query).asked.about == about


def test_a_date_is_met_by_time_and_by_the_words_of_a_calendar() -> None:
    found = asked("What did Maria paint on 8 June 2023?")
    assert found.terms == ("maria", "paint", "8", "june", "2023")
    assert found.asked.dated == 3
    ago = asked("What did Maria paint last week?")
    assert (ago.terms, ago.asked.dated) == (("maria", "paint"), 0)


def test_small_words_are_left_out_in_the_language_of_the_query() -> None:
    assert asked("Wo macht Oma nach dem Eingriff ihre Reha?").terms == (
        "macht",
        "oma",
        "eingriff",
        "reha",
    )
    assert asked("wo ist er?").terms  # there is nothing else to go by


def test_a_named_month_is_a_range_of_time() -> None:
    found = asked("What did Maria paint in May 2023?")
    [(start, end)] = found.asked.ranges
    assert start == datetime(2023, 5, 1, tzinfo=timezone.utc).timestamp()
    assert end == datetime(2023, 6, 1, tzinfo=timezone.utc).timestamp()


def test_a_query_of_nothing_but_a_date_keeps_its_words() -> None:
    assert "2023" in asked("in May 2023").terms


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (
            "Where does Carla work and what is Hugo's dog called?",
            [["carla", "work"], ["hugo", "dog", "call"]],
        ),
        ("Who won? Where was the race held?", [["won"], ["race", "held"]]),
        ("What is the port, and on which host?", [["port"], ["host"]]),
        ("Where and when did Carla marry?", []),  # one question: the first part has no words
        ("What do Carla and Hugo like?", []),
        ("the budget of the bridge and tunnel", []),
        ("", []),
    ],
)
def test_the_parts_of_a_query(query: str, found: list[list[str]]) -> None:
    assert parts(query) == found


def test_a_term_of_two_parts_is_in_both() -> None:
    assert parts("Where does Carla work and where does Hugo work?") == [
        ["carla", "work"],
        ["hugo", "work"],
    ]


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("What did Caroline tell Nate's mother?", ["carolin", "nate"]),
        ('Did she read "Dune" (by Frank Herbert)?', ["dune", "frank", "herbert"]),
        ("Where is \u00c9lodie? Lindqvist moved.", ["elodi"]),
        ("Where do I live? Maria knows.", []),  # it begins a sentence
        ("what did caroline say", []),
        ("How do I split texts for RAG in the US?", []),  # short for something
        ("What did I plan for Thursday and from January on?", []),
        ("Things I'd Like To Know And I'll Ask", []),  # a heading
        ("Wo hat die Oma ihren Schl\u00fcssel f\u00fcr den Keller?", []),
        ("\u4ed6\u5bf9\u4ec0\u4e48\u8fc7\u654f", []),
    ],
)
def test_names_are_told_by_a_capital_inside_a_sentence(query: str, named: list[str]) -> None:
    found = asked(query)
    assert [found.terms[place] for place in found.asked.names] == named
