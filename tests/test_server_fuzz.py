"""schemathesis on our own description: whatever fits it, or does not, is answered as it says."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis import checks as told
from schemathesis.specs.openapi import checks as spec

from holdfast.server.app import App, make_app
from holdfast.server.host import Host
from holdfast.server.limits import Limits
from holdfast.server.openapi import describe
from holdfast.server.settings import Settings
from tests.serving import Served, serving

CASES = int(os.environ.get("HOLDFAST_FUZZ", "400"))  # `make fuzz` asks for 20,000
CHECKS = [
    told.not_a_server_error,
    spec.status_code_conformance,
    spec.content_type_conformance,
    spec.response_schema_conformance,
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("fuzz")
    limits = Limits(body=256 * 1024)
    with serving(f"sqlite:///{folder / 'm.db'}", limits=limits) as served:
        yield served


def _described() -> dict[str, object]:
    """The description, of a server that is never started."""
    with tempfile.TemporaryDirectory() as folder:
        host = Host(Settings(url=f"sqlite:///{Path(folder) / 'm.db'}", embedder="hashing"))
        app: App = make_app(host)
        app.close()
        return describe(app.router, "0")


schema: Any = schemathesis.openapi.from_dict(_described())
OPERATIONS = {it.ok().label: it.ok() for it in schema.get_all_operations()}


def _cases(operation: Any) -> st.SearchStrategy[Any]:
    """What fits the description, and what does not where something can be wrong."""
    right: st.SearchStrategy[Any] = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    if not (operation.body or operation.query):
        return right
    wrong = operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)
    return st.one_of(right, wrong)


@pytest.mark.filterwarnings("default")
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("label", OPERATIONS)
def test_every_path_answers_as_described(label: str, served: Served) -> None:
    each = max(3, -(-CASES // len(OPERATIONS)))
    made = 0

    # Paths that take nothing have but one case: it is asked again.
    while made < each:

        @settings(
            max_examples=each - made,
            deadline=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
            derandomize="HOLDFAST_FUZZ" not in os.environ,
        )
        @given(case=_cases(OPERATIONS[label]))
        def ask(case: Any) -> None:
            nonlocal made
            made += 1
            reply = case.call(base_url=served.url, timeout=60)
            case.validate_response(reply, checks=CHECKS)

        ask()


def test_enough_paths_are_described() -> None:
    assert len(OPERATIONS) >= 80
