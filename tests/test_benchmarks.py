"""The benchmarks measure what they say: by hand, twice alike, and with a bug planted."""

import json
import math
import re
import socket
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import (
    ablation,
    budget,
    corpora,
    generated,
    load,
    metrics,
    page,
    plots,
    quality_tables,
    results,
    rivals,
    served,
    tables,
    targets,
    timing,
    workload,
)
from benchmarks.command import RUNS, main
from benchmarks.embedding import Cached
from benchmarks.options import Options
from benchmarks.quality import Quality
from benchmarks.stores import DEFAULT, remembered
from holdfast import Memory, rank
from holdfast.embed.hashing import Hashing
from tests.serving import serving

# --- measures, by hand ---


def test_measures_of_one_answer() -> None:
    found = metrics.scores(["x", "a", "y", "b", *"cdefgh"], ["a", "b", "never found"])
    assert found["mrr"] == 1 / 2
    assert found["hit@1"] == 0
    assert found["hit@5"] == 1
    assert found["recall@5"] == pytest.approx(2 / 3)
    assert found["recall_all@5"] == 0
    assert metrics.scores(["a", "b"], ["a", "b"])["recall_all@5"] == 1


def test_ndcg_is_over_the_best_order_the_corpus_allows() -> None:
    found = metrics.scores(["x", "a"], ["a", "b"])
    ideal = 1 + 1 / math.log2(3)
    assert found["ndcg@5"] == pytest.approx(1 / math.log2(3) / ideal)
    assert found["ndcg@1"] == 0
    assert metrics.scores(["a"], ["a", "b"])["ndcg@1"] == 1


def test_nothing_found_is_worth_nothing() -> None:
    assert set(metrics.scores([], ["a"]).values()) == {0.0}


def test_sessions_come_in_the_order_of_their_best_item() -> None:
    of = {"a": ["s1"], "b": ["s2", "s3"], "c": ["s1"]}
    assert metrics.sessions(["b", "a", "c"], of) == ["s2", "s3", "s1"]


@pytest.mark.parametrize(
    ("found", "worth"),
    [("nso", 1), ("sno", 0), ("no", 1), ("so", 0), ("", 0), ("on", 1)],
)
def test_the_newest_must_be_found_above_every_stale_one(found: str, worth: float) -> None:
    assert metrics.newest_first(list(found), ["n"], ["s"]) == worth


def test_what_chance_does_is_told_by_signs_at_random() -> None:
    assert metrics.by_chance([0.0, 1.0, 1.0], [1.0, 1.0, 1.0]) == 0.5  # one question: a coin
    assert metrics.by_chance([0.0] * 5, [1.0] * 5) == pytest.approx(1 / 32)
    assert metrics.by_chance([1.0, 0.5], [1.0, 0.5]) == 1.0
    many = metrics.by_chance([0.0] * 20, [1.0] * 20)
    assert many == metrics.by_chance([0.0] * 20, [1.0] * 20) < 0.01


def test_auroc_counts_pairs_and_half_of_ties() -> None:
    assert metrics.auroc([1.0, 3.0], [0.0, 1.0, 2.0]) == pytest.approx((1 + 0.5 + 3) / 6)
    assert metrics.auroc([2.0], [1.0]) == 1
    assert math.isnan(metrics.auroc([], [1.0]))


def test_a_mean_is_over_the_answers_that_have_the_measure() -> None:
    assert metrics.mean([{"a": 1.0}, {"a": 0.0, "b": 1.0}]) == {"a": 0.5, "b": 1.0}


def test_times_have_a_median_and_a_tail() -> None:
    found = timing.summary([timing.Taken(s / 1000, s / 2000) for s in range(1, 101)])
    assert found["p50_ms"] == pytest.approx(50.5)
    assert found["p95_ms"] == pytest.approx(95)
    assert found["cpu_ms"] == pytest.approx(25.25)


# --- corpora ---


def test_the_same_seed_makes_the_same_corpora() -> None:
    assert generated.all_of(seed=4) == generated.all_of(seed=4)
    assert generated.all_of(seed=4) != generated.all_of(seed=5)


def test_generated_corpora_are_plain_and_every_gold_is_there() -> None:
    for corpus in generated.all_of():
        for instance in corpus.instances:
            ids = {item.id for item in instance.items}
            plain = all(item.text.isascii() for item in instance.items)
            assert plain == (corpus.name not in ("languages", "tongues"))
            assert all(set(query.gold) <= ids and query.gold for query in instance.queries)


def test_every_gold_of_the_strangers_is_there_and_some_questions_have_none() -> None:
    found = corpora.strangers()
    assert len(found) == 16
    for corpus in found:
        [instance] = corpus.instances
        sessions = {item.id: item.session for item in instance.items}
        for query in instance.queries:
            assert {sessions[id] for id in query.gold} == set(query.gold_sessions)
        assert sum(not query.gold for query in instance.queries) == 6


DATA = {
    "instances": [
        {
            "id": "one",
            "items": [
                {"id": "a", "text": "Tea", "time": "2024-01-01T00:00:00", "group": "s1"},
                {"id": "b", "text": "Tea", "time": "2024-01-02T00:00:00", "group": "s2"},
                {"id": "c", "text": "x" * 40_000, "time": "2024-01-03T00:00:00", "group": "s2"},
            ],
            "queries": [
                {
                    "id": "q",
                    "text": "tea",
                    "category": "c",
                    "gold": ["b"],
                    "gold_groups": ["s2"],
                    "newest": [],
                    "stale": [],
                    "now": "2024-01-04T00:00:00",
                }
            ],
        }
    ]
}


def test_what_was_done_to_the_data_is_said() -> None:
    corpus = corpora.parsed("mine", DATA)
    assert corpus.notes == ("1 of the texts cut to 32768 bytes",)
    assert corpus.instances[0].items[0].time.tzinfo is not None


def test_equal_content_is_one_memory_with_both_ids_and_sessions() -> None:
    corpus = corpora.parsed("mine", DATA)
    with remembered(corpus, Hashing()) as [store]:
        assert store.ids(["b"]) == ["a"]
        assert store.sessions["a"] == ["s1", "s2"]
        assert [hit.id for hit in store.recall(corpus.queries[0], DEFAULT)][:1] == ["a"]


def test_pooled_stores_keep_ids_apart() -> None:
    twice = replace(
        corpora.parsed("mine", DATA),
        instances=tuple(
            replace(corpora.parsed("mine", DATA).instances[0], id=id) for id in ("one", "two")
        ),
    )
    whole = corpora.pooled(twice).instances[0]
    assert {item.id for item in whole.items} >= {"one/a", "two/a"}
    assert [query.gold for query in whole.queries] == [("one/b",), ("two/b",)]


def test_a_part_of_a_corpus_says_so() -> None:
    one = corpora.parsed("mine", DATA)
    twice = replace(one, instances=one.instances * 2)
    assert corpora.some(twice, 2) == twice
    assert corpora.some(twice, 1).instances == one.instances
    assert corpora.some(twice, 1).notes[-1] == "1 of its 2 stores"


def test_a_workload_is_the_same_for_the_same_seed_and_number() -> None:
    texts = workload.Texts(1)
    assert texts.some(990, 30) == workload.Texts(1).some(0, 2000)[990:1020]
    vectors = workload.Free().embed(texts.some(0, 50))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(50), abs=1e-5)


class Counted(Hashing):
    seen = 0

    def embed(self, texts: Sequence[str]) -> Any:
        self.seen += len(texts)
        return super().embed(texts)


def test_vectors_are_made_once(tmp_path: Path) -> None:
    first, again = Counted(), Counted()
    expected = Cached(first, tmp_path).embed(["tea", "coffee", "tea"])
    assert first.seen == 3  # the two, and a probe that tells models apart
    assert np.array_equal(Cached(again, tmp_path).embed(["tea", "coffee", "tea"]), expected)
    assert again.seen == 1


# --- the harness as a whole ---


@pytest.fixture
def options(tmp_path: Path) -> Options:
    return Options(
        quick=True,
        out=tmp_path / "results",
        cache=tmp_path / "cache",
        data=(),
        made=("identifiers", "changes"),
        embedders=("hashing",),
        share=0.2,
        ablation=False,
    )


def failed(found: dict[str, Any]) -> set[str]:
    return {check["what"] for check in found["checks"] if check["passed"] is False}


def test_the_same_seed_gives_the_same_tables(options: Options) -> None:
    first, again = Quality(options).run(), Quality(options).run()
    assert first == again
    assert [make(results.rounded(first)) for make in tables.TABLES["quality"].values()]


def test_corpora_of_a_kind_are_judged_together_too(options: Options) -> None:
    found = Quality(replace(options, budgets=False)).run()
    one = found["together"]["generated"]["systems"]["default"]["turn"]["all"]
    each = [c["systems"]["default"]["turn"]["all"] for c in found["corpora"].values()]
    assert one["n"] == sum(of["n"] for of in each)
    assert one["mrr"] == pytest.approx(sum(of["n"] * of["mrr"] for of in each) / one["n"])
    assert found["abstention"]["generated, together"] == found["abstention"]["over all"]
    asked = [check["what"] for check in found["checks"]]
    assert "generated, together: MRR at least as plain cosine and BM25, default" in asked
    assert "| generated |" in quality_tables.together(found)
    large, small = (quality_tables.of_kind(found, small)["corpora"] for small in (False, True))
    assert not large
    assert small == found["corpora"]


def reversed_order(plain: Any) -> Any:
    def rank_(*args: Any) -> rank.Ranking:
        ranking: rank.Ranking = plain(*args)
        return replace(ranking, score=-ranking.score)

    return rank_


@pytest.mark.parametrize(
    ("name", "bug"),
    [
        ("rank", reversed_order(rank.rank)),
        ("FULL", 0.0),  # words are worth nothing
    ],
)
def test_a_planted_ranking_bug_is_noticed(
    options: Options, monkeypatch: pytest.MonkeyPatch, name: str, bug: Any
) -> None:
    options = replace(options, made=("identifiers",), share=1.0, budgets=False)
    monkeypatch.setattr(rank, name, bug)
    assert "identifiers: MRR at least as plain cosine and BM25, default" in failed(
        Quality(options).run()
    )


def test_without_a_bug_nothing_is_wrong_there(options: Options) -> None:
    options = replace(options, made=("identifiers",), share=1.0, budgets=False)
    assert failed(Quality(options).run()) == set()


def test_uses_do_not_wear_a_store_unless_asked(options: Options) -> None:
    corpus = generated.all_of(1, 0.2)[1]
    query = corpus.queries[0]
    for counting in (False, True):
        with remembered(corpus, Hashing(), count_uses=counting) as [store]:
            hits = [store.recall(query, DEFAULT)[0] for _ in range(3)]
        assert (hits[-1].memory.uses > 0) is counting


def test_every_part_of_the_ranking_can_be_switched_off_and_on_again() -> None:
    assert ablation.unknown() == []
    for part, changes in ablation.PARTS.items():
        before = [getattr(*ablation._place(name)) for name in changes]
        with ablation.without(part):
            assert [getattr(*ablation._place(name)) for name in changes] != before
        assert [getattr(*ablation._place(name)) for name in changes] == before


def test_a_block_holds_evidence_only_if_the_whole_of_it_fits(options: Options) -> None:
    corpus = generated.all_of(1, 0.2)[1]
    with remembered(corpus, Hashing()) as stores:
        shares = budget.of_library(stores, DEFAULT)
    assert shares["250"] > 0.5
    assert list(shares.values()) == sorted(shares.values())


def test_a_requirement_not_measured_is_neither_passed_nor_failed() -> None:
    assert targets.Check("x", None, 1.0).passed is None
    assert targets.Check("x", 2.0, 1.0).passed is True
    assert targets.Check("x", 2.0, 1.0, at_least=False).passed is False


def test_a_miss_within_noise_is_told_as_such_and_still_a_miss() -> None:
    near = targets.Check("near", 0.88, 0.9, questions=60).row()
    far = targets.Check("far", 0.60, 0.9, questions=60).row()
    assert not near["passed"]
    assert near["noise"] == pytest.approx(0.0387, abs=1e-4)
    found = {"checks": [near, far, targets.Check("met", 1.0, 0.9).row()]}
    assert tables.verdict(found) == "1 of 3 requirements are met."
    told = tables.missed(found)
    assert "below, within noise" in told
    assert "FAIL" in told
    assert "met " not in told


def test_a_miss_that_chance_explains_is_told_as_such_and_still_a_miss() -> None:
    lucky = targets.Check("coach: MRR, default", 0.88, 0.9, questions=30, chance=0.5).row()
    sure = targets.Check("sales: MRR, default", 0.60, 0.9, questions=30, chance=0.01).row()
    found = {"checks": [lucky, sure]}
    told = tables.verdict(found)
    assert told.startswith("0 of 2 requirements are met. Below in some figure: sales, coach. ")
    assert "By more than chance: sales." in told
    assert "below, by chance" in tables.missed(found)
    assert "None by more than chance." in tables.verdict({"checks": [lucky]})


def test_what_another_embedder_costs_is_told_by_corpus(options: Options) -> None:
    found = Quality(replace(options, embedders=("hashing", "hashing"), made=("changes",))).run()
    systems = found["corpora"]["changes"]["systems"]
    for weights in ("default", "relevance"):
        systems[f"{weights}, fast"] = systems.pop(f"{weights}, hashing")
    rows = quality_tables.smaller(found).splitlines()[2:]
    assert [row.split("|")[2].strip() for row in rows] == ["default", "relevance"]
    assert all(set(row.replace(" ", "").split("|")[3:-1]) <= {"0", "–"} for row in rows)


def test_a_results_file_says_where_it_comes_from(options: Options, tmp_path: Path) -> None:
    words = ["quality", "--quick", "--data", "", "--made", "changes", "--embedders", "hashing"]
    words += ["--no-ablation", "--out", str(options.out), "--cache", str(options.cache)]
    assert main(words) == 0
    found = json.loads((options.out / "quality.json").read_text())
    assert set(results.REQUIRED) <= set(found["run"])
    assert {"cpu", "cores", "ram_gb", "python", "sqlite", "numpy"} <= set(found["run"]["machine"])
    assert found["checks"]
    for file in plots.write(tmp_path / "plots", "quality", found):
        assert file.read_text().startswith("<svg")


# --- others ---


def test_a_system_in_its_own_process_finds_what_it_finds_here(
    options: Options, tmp_path: Path
) -> None:
    corpus = generated.all_of(1, 0.2)[1]
    rivals.hand_over(corpus, Cached(Hashing(), options.cache), tmp_path)
    told = rivals.Field(options).answers([rivals.OURS], tmp_path, data=[corpus.name])
    orders = told[rivals.OURS]["quality"][corpus.name][corpus.name]
    assert [orders[query.id][0] for query in corpus.queries] == [
        query.gold[0] for query in corpus.queries
    ]


def test_a_race_times_adds_and_searches(options: Options, tmp_path: Path) -> None:
    rivals.hand_over_speed(tmp_path, 45, 5)
    told = rivals.Field(options).answers([rivals.OURS], tmp_path, data=[], sizes=[40], times=5)
    found = told[rivals.OURS]["speed"]["40"]
    assert min(found.values()) > 0
    assert found["search_ms"] <= found["search_p95_ms"]


def test_a_system_that_fails_is_told_not_hidden(options: Options, tmp_path: Path) -> None:
    field = rivals.Field(options)
    field.answers([rivals.OURS], tmp_path, data=["never handed over"])
    assert "did not run to its end: FileNotFoundError" in field.found["notes"][0]


# --- over HTTP ---


def test_what_the_server_adds_is_of_calls_that_were_answered(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "TURNS", 3)
    monkeypatch.setattr(served, "TURN_SECONDS", 0.02)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    echo = [sys.executable, "-c", served.ECHO, str(port)]
    with (
        serving(url) as server,
        served.process(echo, port) as bare,
        Memory("bench", url, embedder="hashing") as memory,
    ):
        with load.Caller(server.url, "state get") as call, pytest.raises(RuntimeError, match="404"):
            call()
        memory.set("cursor", {"row": 8000})
        memory.remember("the green tea of shop 7 costs 7 euros")
        found = served.added(server.url, bare, memory)
    assert set(found) == set(served.KINDS)
    for told in found.values():
        low, high = told["middle_ms"]
        assert low <= told["added_ms"] <= high
        assert told["bare_ms"] > 0


# --- the page ---


def test_committed_results_say_where_they_come_from() -> None:
    files = sorted(results.FOLDER.glob("*.json"))
    files = [file for file in files if file.stem != "faults"]  # tests/test_faults.py looks at that
    assert files
    own = {
        "faults_postgres",
        "learning_faults",
        "outages",
        "outages_postgres",
        "postgres",
        "served",
    }
    own |= {"small_model"}  # each has a command of its own
    for file in files:
        assert set(results.REQUIRED) <= set(json.loads(file.read_text())["run"])
        assert file.stem in {*RUNS, *own}


@pytest.mark.parametrize(
    ("written", "files"),
    [
        (page.PAGE, {*RUNS, "postgres"}),
        (page.CORPORA, {"quality"}),
        (page.MISSES, {"learning"}),
        (page.SERVER, {"served"}),
    ],
)
def test_every_figure_on_the_page_is_in_a_results_file(written: Path, files: set[str]) -> None:
    text = written.read_text()
    assert page.filled(text) == text, "run `python -m benchmarks page`"
    told = {mark["name"].partition(":")[0] for mark in page.MARKED.finditer(text)}
    assert told
    assert told <= files


def test_people_quote_no_measured_figure_outside_the_tables() -> None:
    prose = page.unmarked(page.PAGE.read_text())
    assert not re.findall(r"(?<![\d.])0?\.\d{3}\b|\b\d+(?:\.\d+)? ms\b", prose)
