"""A server that learns by a language model, and lets it settle conflicts."""

import json

import httpx2
import pytest

from holdfast import Memory
from tests.scripted import models, said
from tests.serving import serving
from tests.test_cli import fails
from tests.waiting import until

TEA = {"content": "Ann likes green tea.", "kind": "preference", "about": "Ann", "turns": [0]}


@pytest.fixture(autouse=True)
def _model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_LLM_MODEL", "small")
    monkeypatch.delenv("HOLDFAST_LLM_URL", raising=False)


def test_conversations_are_learned_from_by_the_model(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with models() as start:
        there, model = start(said(json.dumps({"memories": [TEA | {"avoid": False}]})))
        monkeypatch.setenv("HOLDFAST_LLM_URL", there)
        with serving(url, extractor="llm") as served:
            talk = {"messages": [{"name": "Ann", "content": "Green tea, always green tea!"}]}
            at = f"{served.url}/v1/scopes/s"
            job = httpx2.post(f"{at}/conversations", json=talk).json()["job_id"]
            until(lambda: _status(served.url, job) == "complete")
            found = httpx2.get(f"{at}/memories").json()["memories"]
    assert model.asked
    assert "Ann likes green tea." in {one["content"] for one in found}


def _status(url: str, job: str) -> str:
    told: str = httpx2.get(f"{url}/v1/jobs/{job}").json()["status"]
    return told


def test_conflicts_are_settled_by_the_judge(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with models() as start:
        # It is shown the two twice, in either order.
        there, model = start(said('{"verdict": "second"}'), said('{"verdict": "first"}'))
        monkeypatch.setenv("HOLDFAST_LLM_URL", there)
        with serving(url, judge="llm") as served, Memory("s", served.url) as memory:
            memory.extract("Ann: I live in Berlin.", session="1")
            memory.extract("Bob: Ann lives in Porto.", session="2")
            until(lambda: len(memory.list()) == 1)
            assert [one.content for one in memory.list()] == ["Ann lives in Berlin."]
    assert len(model.asked) == 2


def test_what_stands_beside_a_memory_is_told(url: str) -> None:
    with serving(url) as served, Memory("s", served.url) as memory:
        ids: dict[str, str] = {}
        for session, text in (("1", "Ann: I live in Berlin."), ("2", "Bob: Ann lives in Porto.")):
            memory.extract(text, session=session)
            ids |= {one.content: one.id for one in memory.list()}
        at = f"{served.url}/v1/scopes/s/memories"
        told = httpx2.get(f"{at}/{ids['Ann lives in Berlin.']}/marks").json()
        assert told["conflicts"] == [ids["Ann lives in Porto."]]
        assert (told["outdated_by"], told["confirmed"]) == ([], 1)
        assert httpx2.get(f"{at}/none/marks").status_code == 404


@pytest.mark.parametrize("option", ["--extractor", "--judge"])
def test_what_cannot_be_had_is_said_before_it_listens(option: str, url: str) -> None:
    assert "oracle" in fails(2, "serve", option, "oracle", "--url", url)
    assert "HOLDFAST_LLM_URL" in fails(2, "serve", option, "llm", "--url", url)
