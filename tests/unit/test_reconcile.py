from datetime import datetime, timedelta, timezone

import pytest

from holdfast import slots
from holdfast.extract.reconcile import Statement, Verdict, better, judged, remainder

DAY = timedelta(days=1)
NOW = datetime(2026, 5, 3, tzinfo=timezone.utc)


def said(content: str, id: str = "new", at: datetime = NOW, **more: object) -> Statement:
    writer = str(more.pop("writer", "ann"))
    found = slots.of(content, writer)
    return Statement(id, content, found, at, writer, **more)  # type: ignore[arg-type]


def known(content: str, **more: object) -> Statement:
    return said(content, "old", NOW - DAY, **more)


CORRECTS, SAME, BESIDE = Verdict(corrects=("old",)), Verdict(same="old"), Verdict()


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("I live in Berlin", "I live in Lisbon", CORRECTS),
        ("I live in Berlin", "I live in Berlin now", SAME),
        ("I live in Berlin", "I speak Thai", BESIDE),
        ("I speak French", "I speak Thai", BESIDE),
        ("I speak Thai", "I no longer speak Thai", CORRECTS),
        ("The store is MongoDB", "We switched from MongoDB to PostgreSQL", CORRECTS),
        ("We deploy every Friday", "We deploy every Monday now", CORRECTS),
        ("We deploy every Friday", "We deploy every Monday", BESIDE),
        ("We track bugs in Jira", "We track time in Toggl now", BESIDE),
        ("Rosa teaches biology", "Rosa also teaches chemistry now", BESIDE),
        ("I have a pottery class on Mondays", "I have a pottery class on Fridays", BESIDE),
        ("My boss is Carla", "My boss is an angel today", BESIDE),
        ("The mascot is a fox", "The mascot is an owl", CORRECTS),
        ("I live in Ulm", "I live near the cathedral", BESIDE),
        ("I've spotted 27 owls so far", "Two more, which brings my owl count to 29", CORRECTS),
        ("I have read 12 books", "I have written 3 books", BESIDE),
        ("My cat weighs 5 kg", "My cat weighs 4.5 kg", CORRECTS),
        ("The VM runs Ubuntu 20.04", "The VM runs Ubuntu 24.04", CORRECTS),
        ("Ann ran 5 km", "Ann ran 10 km", BESIDE),
        ("The pool is open", "The pool is closed", CORRECTS),
        ("The price is 8 euros", "The price went up to 11 euros", CORRECTS),
        ("Our accountant is Mr. Silva", "We have a new accountant, Ms. Duarte", CORRECTS),
        ("I subscribe to Netflix", "I cancelled my Netflix subscription", CORRECTS),
        ("We host our site on Heroku", "We moved our site from Heroku to Fly", CORRECTS),
        ("Kofi is the treasurer", "Kofi stepped down as treasurer", CORRECTS),
        ("Zara is engaged", "Zara got married", CORRECTS),
        ("I have a pottery class on Mondays", "My pottery class is on Fridays", CORRECTS),
        ("My car is a red Mazda", "I sold the Mazda", CORRECTS),
        ("I drive a Golf", "I left my golf club", BESIDE),
        ("I'm on a keto diet", "I'm not doing keto anymore", CORRECTS),
        ("I'm learning Spanish", "I finished my Spanish homework", BESIDE),
        ("I love Paris", "I live in Rome, not Paris", BESIDE),
        ("Tom's boss is Ida", "Otto took over from Ida as my boss", BESIDE),
        ("My boss is Karin", "My boss moved to Berlin", BESIDE),
        ("I take the bus to work", "I bike to work now", CORRECTS),
        ("I take the bus to work", "I drive to work when it rains", BESIDE),
        ("My sister lives in Graz", "My other sister lives in Linz", BESIDE),
        ("The code word is albatross", "The code word was changed to pelican", CORRECTS),
        ("The desk is on the third floor", "The desk moved to the fifth floor", CORRECTS),
        ("The demo is on Monday", "The demo isn't on Monday, it's on Tuesday", CORRECTS),
        ("The price is 8 euros", "The price is no longer 8 but 11 euros", CORRECTS),
        ("The choir meets in the hall", "The choir now meets in the library", CORRECTS),
        ("Eva is friends with Ivan", "Eva is friends with Tomek now", BESIDE),
        ("I take iron pills daily", "I no longer take iron pills", CORRECTS),
        ("I take iron pills daily", "I no longer take pills", BESIDE),
        ("My username is ada", "My username is ada_l", CORRECTS),
        ("We went from AWS to OVH", "We moved from OVH to Hetzner", CORRECTS),
        ("Our message queue is RabbitMQ", "Kafka replaced RabbitMQ as our queue", CORRECTS),
        ("Our CI is Jenkins", "Jenkins -> Buildkite", CORRECTS),
        ("I use Vim", "Vim is out, Emacs is in", CORRECTS),
        ("I use Vim", "No more Vim, Emacs now", CORRECTS),
        ("Our CI is Jenkins", "Our CI used to be Jenkins, now it's Buildkite", CORRECTS),
        ("I live in Berlin", "Home is Lisbon for me these days", CORRECTS),
        ("I live in Berlin", "Lisbon is home now", CORRECTS),
        ("I like Pepsi", "I changed from Pepsi to Coke", CORRECTS),
        ("I love Berlin", "I moved from Berlin to Lisbon", BESIDE),
        ("I speak French", "I switched from French to German class", BESIDE),
        ("My doctor is Dr. Blum", "My neighbour switched from Dr. Blum to Dr. Roth", BESIDE),
        ("Our team uses Jira", "Their team replaced Jira with Linear", BESIDE),
        ("I use Vim", "If we switched from Vim to Emacs we'd be slower", BESIDE),
        ("My pill is ramipril", "My doctor switched me from ramipril to losartan", CORRECTS),
        ("The dose is 5 ml", "I mixed that up, the dose is 7 ml", CORRECTS),
    ],
)
def test_slots_decide(old: str, new: str, verdict: Verdict) -> None:
    assert judged(said(new), [known(old)]) == verdict


def test_a_day_of_the_week_is_past_a_week_later() -> None:
    old, new = "I have a pottery class on Monday", "I have a pottery class on Friday"
    assert judged(said(new), [known(old)]) == BESIDE
    assert judged(said(new, at=NOW + 7 * DAY), [known(old)]) == CORRECTS


def test_likeness_alone_decides_nothing() -> None:
    assert judged(said("The red bus went by"), [known("The red bus went past")]) == BESIDE


def test_the_later_one_is_true() -> None:
    late = said("I live in Rome", at=NOW - 9 * DAY)
    assert judged(late, [known("I live in Berlin")]) == Verdict(newer="old")


@pytest.mark.parametrize(
    "more", [{"writer": "bob"}, {"role": "tool"}, {"role": "document"}], ids=str
)
def test_one_who_may_know_less_does_not_correct(more: dict[str, str]) -> None:
    new = said("Ann lives in Rome", "new", NOW, **more)
    assert judged(new, [known("I live in Berlin")]) == Verdict(unclear=("old",))


def test_what_is_pinned_is_not_corrected_silently() -> None:
    old = known("I live in Berlin", pinned=True)
    assert judged(said("I live in Rome"), [old]).unclear == ("old",)


def test_the_better_words_say_all_and_more() -> None:
    assert better("Ann lives in Lisbon, Portugal", "Ann lives in Lisbon")
    assert not better("Ann lives in Lisbon", "Ann lives in Lisbon")


def test_what_still_holds_is_left() -> None:
    new = slots.of("I live in Rome", "ann")
    assert remainder("I live in Berlin and I speak Thai", "ann", new) == "I speak Thai."
    assert remainder("I live in Berlin", "ann", new) is None


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        ("Ann lives in Porto", Verdict(unclear=("old",))),
        ("Ann moved to Porto", CORRECTS),
        ("Ann no longer lives in Rome", CORRECTS),
    ],
)
def test_a_change_told_by_another_is_news_and_a_claim_is_a_dispute(
    told: str, verdict: Verdict
) -> None:
    assert judged(said(told, writer="bob"), [known("I live in Rome")]) == verdict


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("I live in Rome", "My name is Bob Hill", BESIDE),
        ("My email is bob@example.com", "My name is Bob Hill", BESIDE),
        ("My timezone is CET", "I work at Acme", BESIDE),
        ("My name is Bob Hill", "I was misheard, it is Rob", CORRECTS),
        ("I work at Acme", "I study law", CORRECTS),
        ("I'm allergic to nuts", "I cannot eat nuts", BESIDE),
        ("I'm allergic to nuts", "Keep my cake nut-free", BESIDE),
        ("I'm allergic to nuts", "The doctor says I can eat nuts", CORRECTS),
        ("I'm allergic to nuts", "I'm no longer a nut sufferer", CORRECTS),
    ],
)
def test_not_everything_that_was_read_as_ended_is(old: str, new: str, verdict: Verdict) -> None:
    assert judged(said(new), [known(old)], {"old"}) == verdict
