"""The suites of learning keep what was published of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import contradictions, junk, learning_faults, poisoning, results
from benchmarks.options import Options


@pytest.mark.slow
def test_corrections_are_precise_before_they_are_complete() -> None:
    found = contradictions.run(Options())
    whole = found["rows"]["over all"]
    assert whole["cases"] >= 3400
    assert whole["precision"] >= 0.95
    assert whole["recall"] >= 0.75
    once = found["rows"]["met once"]
    assert once["cases"] >= 300
    assert once["precision"] >= 0.92  # .95 is what it should be: not reached
    assert once["recall"] >= 0.75
    assert len(found["misses"]) == whole["missed"] + whole["wrong"]
    chats = found["rows"]["over all, in chats"]
    assert chats["precision"] >= 0.93
    assert chats["recall"] >= 0.67  # of all that is in `mixture`, much is never learned
    slots = found["rows"]["over all, by slots alone"]
    assert slots["precision"] >= 0.9
    assert 0 < slots["recall"] < whole["recall"]  # or the model were for nothing


def test_the_suite_has_every_category_it_should() -> None:
    wanted = {"reworded", "double correction", "partial", "negated", "time-shifted", "other person"}
    wanted |= {"hypothetical", "multi-valued", "sarcasm", "quoted"}
    assert {case.category for case in contradictions.cases()} >= wanted


def test_a_policy_holds_attacks_and_lets_the_benign_through() -> None:
    attacks = [case for case in poisoning.cases() if case[0] != "benign"]
    assert len(attacks) >= 50
    benign = [words for category, words, _ in poisoning.cases() if category == "benign"]
    assert poisoning.wrongly_held(benign)["share"] <= 0.02
    assert poisoning.crossing()["seen"] == 0


@pytest.mark.slow
def test_on_a_filled_store_only_other_words_get_in() -> None:
    found = poisoning.attacked(["Ann likes tea", "Bob likes milk"], poisoning.POLICY)
    for name in ("instruction", "plain sentence", "AgentPoison-like", "hidden characters"):
        assert found[name]["exposed"] == 0, name


def published(name: str) -> Any:
    return json.loads((results.FOLDER / f"{name}.json").read_text())


def test_what_was_published_of_learning_is_what_was_asked() -> None:
    found = published("learning")
    for facts in found["facts"].values():
        assert facts["newest first"] >= 0.9
        assert facts["stale out of recall"] >= 0.9
    assert found["updates"]["newest first"] >= 0.9
    learned = found["extraction"]
    assert learned["share of tokens"] <= 0.35
    assert learned["share of evidence"]["recall@10"] >= 0.85
    assert all(share >= 0.85 for share in learned["kept of what raw turns find"].values())
    assert learned["growth when replayed"] == 0
    assert learned["junk"]["sample"] == learned["junk"]["labelled"] == 500
    assert learned["junk"]["share"] <= 0.05
    assert found["poisoning"]["false positives"]["share"] <= 0.02


def test_the_kills_that_were_published_lost_nothing() -> None:
    found = published("learning_faults")
    assert found["kills"] >= learning_faults.LONG == 500
    assert found["acknowledged"] >= found["kills"]
    assert {name: found[name] for name in learning_faults.WRONG} == dict.fromkeys(
        learning_faults.WRONG, 0
    )


def test_the_suite_of_attacks_has_every_kind() -> None:
    wanted = {"MINJA-like", "AgentPoison-like", "plain sentence", "synonym", "delayed trigger"}
    assert {category for category, _, _ in poisoning.cases()} >= {*wanted, "hidden characters"}
    assert {"empty", "filled", "cross-tenant"} <= set(published("learning")["poisoning"])


def test_junk_is_counted_in_a_sample_of_what_is_learned_now(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    labels = tmp_path / "junk.json"
    told = {"Hi there": True, "Ann likes tea": False, "No longer learned": True}
    labels.write_text(json.dumps({junk.digest(it): found for it, found in told.items()}))
    monkeypatch.setattr(junk, "LABELS", labels)
    found = junk.share(["Hi there", "Ann likes tea", "Ann likes tea", "not labelled"])
    assert found == {"sample": 3, "labelled": 2, "share": 0.5}


def test_the_sample_stays_when_little_is_learned_anew() -> None:
    learned = [f"Ann has {number} cats" for number in range(100)]
    sample = junk.drawn(learned, 20)
    assert len(set(sample)) == 20
    assert junk.drawn([*reversed(learned)], 20) == sample
    assert junk.drawn(learned, 20, seed=2) != sample
    left = [it for it in learned if it != sample[3]]
    assert len(set(junk.drawn(left, 20)) & set(sample)) == 19


def test_labels_are_read_from_the_lines_that_were_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(junk, "LABELS", tmp_path / "junk.json")
    junk.LABELS.write_text(json.dumps({junk.digest("Ann likes tea"): False, "gone": True}))
    sample = ["Ann likes tea", "Nice!", "Bob is 6"]
    nice, bob = junk.unlabelled(sample, junk.labels())
    junk.keep(junk.taken([nice.replace(" ", "x", 1), bob, ""]), sample)
    found = {it: junk.labels()[junk.digest(it)] for it in sample}
    assert found == {"Ann likes tea": False, "Nice!": True, "Bob is 6": False}
    assert len(junk.labels()) == 3
