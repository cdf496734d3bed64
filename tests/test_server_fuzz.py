"""schemathesis on our own description: whatever fits it, or does not, is answered as it says."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import checks as told
from schemathesis.specs.openapi import checks as spec

from holdfast.server.app import App, make_app
from holdfast.server.host import Host
from holdfast.server.limits import Limits
from holdfast.server.openapi import describe
from holdfast.server.settings import Settings
from tests.serving import Served, serving

CASES = int(os.environ.get("HOLDFAST_FUZZ", "400"))  # `make fuzz` asks for 20,000
PATHS = 80
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
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        host = Host(Settings(url=f"sqlite:///{Path(folder) / 'm.db'}", embedder="hashing"))
        app: App = make_app(host)
        app.close()
        return describe(app.router, "0")


schema = schemathesis.openapi.from_dict(_described())


@schema.parametrize()
@settings(
    max_examples=max(3, CASES // PATHS),
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
    derandomize="HOLDFAST_FUZZ" not in os.environ,
)
@pytest.mark.filterwarnings("default")
def test_every_path_answers_as_described(case: Any, served: Served) -> None:
    reply = case.call(base_url=served.url, timeout=60)
    case.validate_response(reply, checks=CHECKS)


def test_enough_paths_are_described() -> None:
    paths: Any = _described()["paths"]
    operations = sum(len(methods) for methods in paths.values())
    assert operations >= PATHS - 1
