"""Which statements say the same: pairs that do, and pairs that only look like it."""

from datetime import datetime, timedelta, timezone

import pytest

from holdfast import slots
from holdfast.extract.paraphrase import GROUP_MOST, Told, groups, same, worded
from holdfast.extract.reconcile import Statement

NOW = datetime(2026, 5, 3, tzinfo=timezone.utc)


def statement(said: str, writer: str = "Zoe", days: int = 0) -> Statement:
    return Statement(said, said, slots.of(said, writer), NOW + timedelta(days=days), writer)


def alike(one: Statement, other: Statement) -> bool:
    both = {same(Told(one), Told(other)), same(Told(other), Told(one))}
    assert len(both) == 1
    return both.pop()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann lives in Lisbon", "Ann is based in Lisbon"),
        ("The main store is PostgreSQL", "We use PostgreSQL for the main store"),
        ("We deploy every Friday", "We always deploy every Friday"),
        ("Bob enjoys hiking", "Bob loves to hike"),
        ("The cache key contains the tenant", "The cache key still contains the tenant name"),
        ("I live in Lisbon", "Zoe lives in Lisbon"),
        ("The staging server needs a restart", "The staging server needs a full restart"),
    ],
)
def test_the_same_in_other_words(one: str, other: str) -> None:
    assert alike(statement(one), statement(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann lives in Lisbon", "Bob lives in Lisbon"),
        ("Ann likes tea", "Ann likes coffee"),
        ("Ann likes tea", "Ann likes green tea"),
        ("Ann eats meat", "Ann rarely eats meat"),
        ("Ann eats meat", "Ann doesn't eat meat"),
        ("Bob lives in Rome", "Bob's brother lives in Rome"),
        ("Tom beats Anna", "Anna beats Tom"),
        ("Anna fired Tom", "Anna was fired by Tom"),
        ("The limit is 5 requests", "The limit is 50 requests"),
        ("The limit is five requests", "The limit is six requests"),
        ("Ann has a dog", "Ann has a dog allergy"),
        ("Bob is the manager", "Bob is the assistant manager"),
        ("We deploy every Friday", "We deploy every Monday"),
        ("Only Ann has the key", "Ann has the key"),
        ("The flight to Rome is booked", "The flight from Rome is booked"),
        ("Ann likes her dog", "Ann likes his dog"),
        ("Ann might move to Rome", "Ann moves to Rome"),
        ("The build is green", "The build is red"),
        ("Eve said the server is down", "The server is down"),
        ("Ann wants a bike", "Ann has a bike"),
    ],
)
def test_what_differs_in_a_name_a_number_a_denial_or_a_bound_is_not(one: str, other: str) -> None:
    assert not alike(statement(one), statement(other))


def test_i_is_whoever_says_it() -> None:
    assert not alike(statement("I like tea", "Ann"), statement("I really like tea", "Bob"))
    assert alike(statement("I like tea", "Ann"), statement("I really like tea", "Ann"))


def test_what_happened_at_another_time_happened_again() -> None:
    one, other = "Ann visited her aunt", "Ann visited her aunt Rosa"
    assert not alike(statement(one), statement(other))
    one, other = "Ann repaired the fence", "Ann repaired the fence behind the barn"
    assert alike(statement(one), statement(other))
    assert not alike(statement(one), statement(other, days=90))


def test_groups_are_apart_and_bounded() -> None:
    said = ["Ann lives in Lisbon", "Bob likes tea", "Ann is living in Lisbon", "Bob enjoys tea"]
    assert groups([statement(one) for one in said]) == [[0, 2], [1, 3]]
    many = [statement("The cache key contains the tenant") for _ in range(GROUP_MOST + 10)]
    assert [len(group) for group in groups(many)] == [GROUP_MOST, 10]
    assert groups([]) == []


def test_the_wording_lacks_nothing_that_was_said() -> None:
    said = [
        "The cache key contains the tenant",
        "The cache key contains the tenant name",
        "The cache key contains the shard and tenant",
    ]
    words = worded([statement(one) for one in said])
    assert words == f"{said[1]}. {said[2]}."
    assert worded([statement("Ann lives in Lisbon"), statement("Ann is based in Lisbon")]) == (
        "Ann lives in Lisbon"
    )
