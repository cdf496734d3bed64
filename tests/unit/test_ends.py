"""What is told to be over, in whose words ever; and what only sounds like it."""

from datetime import datetime, timedelta, timezone

import pytest

from holdfast import ends, meanings, slots, subjects
from holdfast.extract.reconcile import Statement, judged

DAY = datetime(2026, 3, 1, tzinfo=timezone.utc)


def told(content: str, days: int, writer: str = "user") -> Statement:
    since = DAY + timedelta(days=days)
    return Statement(f"day {days}", content, slots.of(content, writer), since, writer)


def over(old: str, new: str, teller: str = "user", of: str = "user") -> bool:
    return bool(judged(told(new, 30, teller), [told(old, 0, of)]).corrects)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I play the oboe", "I gave the oboe up for good"),  # a verb parted by what it ends
        ("I have a cleaner", "We let the cleaner go"),
        ("I take warfarin", "The surgeon took me off warfarin"),  # by somebody else
        ("I take warfarin", "I was taken off warfarin"),
        ("Our gym is Ironworks", "We pulled out of Ironworks"),
        ("I have a boat licence", "My boat licence lapsed"),  # by itself
        ("Lena owns the search index", "The search index was handed over to Igor"),
        ("I have a cottage", "I have no cottage any more"),
        ("I drink rum", "I haven't drunk rum in months"),
        ("I'm the librarian", "Stepped down as librarian last week, at last"),  # without an "I"
        ("Kim rents a studio", "Kim bought a barge and gave up the studio"),  # said of the first
        ("I take a Greek course", "The Greek course got dull and I gave it up"),
        ("Mrs. Abbot is my tutor", "Since Mrs. Abbot retired, I learn alone"),
        ("The secretary is Olaf", "Olaf resigned last month"),
        ("The secretary of the club is Olaf", "Ida took over as secretary from Olaf"),
        ("My aunt Rita lives in Bari", "Rita moved to Lecce"),  # by her name
        ("My mother lives in Bari", "Mum moved to Lecce"),
        ("The sauna is closed for repairs", "The sauna reopened"),  # whyever it was closed
        ("The barn is heated with coal", "We heat the barn with gas now"),
        ("I take 5 mg of zinc and a statin every day", "My doctor took me off the statin"),
        ("Our company rents a loft", "We gave up the loft"),
    ],
)
def test_what_is_told_to_be_over_ends(old: str, new: str) -> None:
    assert over(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I play the oboe", "I put the oboe back"),
        ("I play the oboe", "I gave the oboe a polish"),
        ("I have a dog", "I sent the dog out"),
        ("I have a van", "I returned the van to the garage after the ride"),
        ("I work with Slack", "I turned off Slack for an hour"),
        ("I take warfarin", "The surgeon took my brother off warfarin"),
        ("I take warfarin", "The guard took me off the train"),
        ("I have a season ticket", "The season came to an end"),  # another thing
        ("I have a phone", "My phone died"),
        ("Our shop sells bread", "The bread ran out"),
        ("Lena owns the search index", "The search report was handed over to Igor"),
        ("I have two cottages", "I have no time any more"),
        ("Kim rents a studio", "Kim's parents gave up the studio"),
        ("Mrs. Abbot is my tutor", "Mrs. Abbot retired the old grammar"),
        ("Mrs. Abbot is my tutor", "Mrs. Abbott's sister retired"),
        ("Mrs. Abbot lives in Hull", "Mrs. Abbot retired"),
        ("The lead is Ada", "Ada quit smoking"),
        ("My aunt Rita lives in Bari", "My aunt Pia moved to Lecce"),
        ("My mother lives in Bari", "My mother-in-law moved to Lecce"),
        ("Tom's mother lives in Bari", "Mum moved to Lecce"),
        ("The sauna is closed for repairs", "The sauna bar opened"),
        ("The barn is heated with coal", "We heat the chapel with gas now"),
        ("I have a garden", "If it rains again I give the garden up"),
        ("I have a garden", "My neighbour gave his garden up"),
    ],
)
def test_what_only_sounds_like_an_end_ends_nothing(old: str, new: str) -> None:
    assert not over(old, new)


def test_what_a_group_gives_up_is_not_what_another_has() -> None:
    assert not over("I use Vim", "We replaced Vim with Zed", teller="Ann", of="Bob")
    assert over("I use Vim", "We replaced Vim with Zed", teller="Bob", of="Bob")
    assert over("Our CI is Jenkins", "Buildkite replaced Jenkins", teller="Ann", of="Bob")


def test_the_rest_of_a_statement_is_told_of_whom_it_begins_with() -> None:
    assert list(ends.parts("Kim bought a barge and gave up the studio")) == [
        "Kim gave up the studio"
    ]
    assert list(ends.parts("The Greek course got dull and I gave it up")) == [
        "I gave the Greek course up"
    ]
    assert not list(ends.parts("Kim bought a barge and likes it"))


def test_somebody_is_known_by_one_name() -> None:
    assert subjects.named("My aunt Rita sings") == "Rita sings"
    assert subjects.named("Mum sings") == "my Mum sings"
    assert subjects.named("My aunt sings") == "My aunt sings"
    assert subjects.with_i("Sold the boat") == "I sold the boat"
    assert subjects.with_i("Bob sold the boat") == "Bob sold the boat"


def test_words_of_one_meaning_are_one_word() -> None:
    assert meanings.terms("supper") == meanings.terms("dinner")
    assert meanings.terms("house") != meanings.terms("flat")  # one may replace the other
