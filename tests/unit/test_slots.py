import pytest

from holdfast.ends import ANY, ONGOING
from holdfast.slots import Slot, of


def told(statement: str) -> list[tuple[str, str, str, bool]]:
    return [(it.who, it.attribute, it.value, it.ended) for it in of(statement, "Ann")]


@pytest.mark.parametrize(
    ("statement", "slot"),
    [
        ("I live in Berlin", ("ann", "home", "berlin", False)),
        ("Bob moved to Lisbon last March because of work", ("bob", "home", "lisbon", False)),
        ("I no longer live in Berlin", ("ann", "home", "berlin", True)),
        ("My sister lives in Rome", ("ann sister", "home", "rome", False)),
        ("Bob speaks Thai", ("bob", "speaks thai", "yes", False)),
        ("Bob doesn't speak Thai", ("bob", "speaks thai", "no", False)),
        ("I can't stand olives", ("ann", "taste oliv", "dislikes", False)),
        ("I prefer tea over milk", ("ann", "prefers milk|tea", "tea", False)),
        ("The main store is MongoDB", ("", "main store", "mongodb mongo db", False)),
        ("We use MongoDB for the main store", ("", "main store", "mongodb mongo db", False)),
        ("The capital of Wales is Cardiff", ("wale", "capit", "cardiff", False)),
        ("The meeting is on Friday", ("", "meet on", "friday", False)),
        ("The meeting is at 3pm", ("", "meet at", "3pm 3 pm", False)),
        ("Bob is no longer vegan", ("bob", "diet", "vegan", True)),
        ("I have two cats", ("ann", "number of cat", "two", False)),
        ("We switched from Jira to Linear", ("", ANY, "jira", True)),
        ("We deploy every Friday", ("ann", "deploy everi …", "friday", False)),
        ("We host the site on Heroku", ("ann", "host site …", "heroku", False)),
        ("I have a pottery class on Mondays", ("ann", "potteri class on", "monday week", False)),
        ("I finished my 6th project", ("ann", "number of project", "6", False)),
        ("I've read 12 books", ("ann", "number of book read", "12", False)),
        ("I saw one, which brings my total owl count to 5", ("ann", "total of owl", "5", False)),
        ("Bob saw one, bringing his tally to 6 owls", ("bob", "total of owl", "6", False)),
        ("Chris and I broke up", ("ann", "partner", "chris", True)),
        ("Our support hours are 9 to 5", ("", "support hour", "9 5", False)),
        ("Support hours changed to 8 to 6", ("", "support hour", "8 6", False)),
        ("Standup is now at 10am", ("", "standup at", "10am 10 am", False)),
        ("I got a new job at Bosch", ("ann", "employer", "bosch", False)),
        ("Bob became a vegetarian", ("bob", "diet", "vegetarian", False)),
        ("We migrated to Linear for tickets", ("", "ticket", "linear", False)),
        ("I moved to Rome for work", ("ann", "home", "rome work", False)),
        ("They raised the API limit to 500", ("", "api limit", "500", False)),
        ("I changed my major to math", ("ann", "studi", "math", False)),
        ("Dave is my new boss", ("ann", "boss", "dave", False)),
        ("We switched the store from Redis to etcd", ("", "store", "etcd", False)),
        ("I'm Ann, I work at Aldi", ("ann", "employer", "aldi", False)),
        ("Tom left, my new boss is Eve", ("ann", "boss", "eve", False)),
        ("Bob quit, so now my boss is Eve", ("ann", "boss", "eve", False)),
        ("I'm down to 76 kg", ("ann", "weighs", "76 kg", False)),
        ("I finished Dune", ("ann", ONGOING, "dune", True)),
        ("Nadia is back from parental leave", ("nadia", ONGOING, "parent leav", True)),
        ("I use Firefox instead of Chrome now", ("ann", ANY, "chrome", True)),
        ("Otto took over as our designer", ("", "design", "otto", False)),
        ("Acme appointed Eva Lang as CEO", ("acm", "ceo", "eva lang", False)),
        ("We rewrote the site in Go", ("site", "written in", "go", False)),
        ("The VM was upgraded to 32 GB", ("vm", "number of gb", "32", False)),
        ("My desk moved to the fifth floor", ("ann", "desk on", "fifth floor", False)),
        ("We upgraded the app to Python 3.13", ("app", "version python", "3d13 3 13", False)),
        ("The bridge reopened", ("", "bridg open or closed", "open", False)),
        ("Leo is single again", ("leo", "partner", ANY, True)),
        ("Olga left, so her surname is Klein now", ("olga", "surnam", "klein", False)),
    ],
)
def test_a_statement_has_its_slot(statement: str, slot: tuple[str, str, str, bool]) -> None:
    assert slot in told(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "Do I live in Berlin?",
        "I might live in Berlin",
        "I wish I lived in Berlin",
        "If I live in Berlin I walk",
        "I used to live in Berlin",
        'He said "I live in Berlin"',
        "Tom thinks Ann lives in Berlin",
        "Sure, and I live in a castle",
        "I visited Berlin",
        "",
        "x" * 400,
    ],
)
def test_what_is_not_told_as_true_has_none(statement: str) -> None:
    assert of(statement, "Ann") == ()


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("I live in Berlin", "The user lives in Berlin"),
        ("I moved to Berlin", "The user moved to Berlin in the week of 2026-11-09"),
        ("My new boss is Eve", "The user's new boss is Eve"),
        ("I don't go running on Sundays", "The user doesn't go running on Sundays"),
        ("I have a cat and my boss is Eve", "The user has a cat and their boss is Eve"),
        (
            "I adopted a cat, so now I have three cats",
            "The user adopted a cat, so now they have three cats",
        ),
        ("I cancelled my Netflix subscription", "The user cancelled their Netflix subscription"),
    ],
)
def test_what_is_learned_of_the_user_has_the_slots_of_what_was_said(mine: str, theirs: str) -> None:
    assert {it for it in of(mine) if not it.weak} == {it for it in of(theirs) if not it.weak}


@pytest.mark.parametrize(
    "statement",
    [
        "When I'm in Rome, I live with my aunt",
        "If I get the job, my boss is Eve",
        "Next year I will live in Rome",
        "Maybe Tom left, my new boss is Eve",
    ],
)
def test_a_part_of_what_is_not_so_is_not_so_either(statement: str) -> None:
    assert not {it.attribute for it in of(statement)} & {"home", "boss"}


def test_each_clause_has_its_own() -> None:
    found = of("I live in Berlin and I speak Thai", "Ann")
    assert [(it.attribute, it.value) for it in found if it.topic is None] == [
        ("home", "berlin"),
        ("speaks thai", "yes"),
    ]
    assert isinstance(found[0], Slot)
