"""The API, for machines at /openapi.json and for people at /docs, with no asset from outside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from html import escape
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from typing import Any

from holdfast.server.app import Endpoint
from holdfast.server.exchange import Call, Reply
from holdfast.server.openapi import About, describe
from holdfast.server.router import Router

STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
code,pre{font:14px/1.5 ui-monospace,monospace;background:#8881;border-radius:4px;padding:.1em .3em}
pre{padding:.7em;overflow:auto}details{border-top:1px solid #8884;padding:.4em 0}
summary{cursor:pointer}b.m{display:inline-block;min-width:4.5em;font-size:.85em}
table{border-collapse:collapse}td{padding:.15em .8em .15em 0;vertical-align:top}
@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}a{color:#8bf}}"""
TRY = """curl -X POST {url}/v1/scopes/me/remember -d '{{"content": "The staging server is heron"}}'
curl -X POST {url}/v1/scopes/me/recall -d '{{"query": "what is the staging server called?"}}'"""


def add(router: Router[Endpoint]) -> None:
    """Adds the paths; to be called last, since it tells of all the others."""

    @cache
    def told() -> dict[str, Any]:
        return describe(router, version())

    def machine(call: Call) -> Reply:
        """This API as OpenAPI 3.1."""
        return Reply(json.dumps(told()).encode())

    def people(call: Call) -> Reply:
        """This API on a page."""
        host = call.headers.get("host", "localhost")
        return Reply(page(told(), f"http://{host}").encode(), media="text/html; charset=utf-8")

    html = About(media="text/html; charset=utf-8", gives="text")
    router.add("GET", "/openapi.json", Endpoint("openapi", machine, keyless=True, reads=True))
    router.add("GET", "/docs", Endpoint("docs", people, keyless=True, reads=True, about=html))


def version() -> str:
    """The version of this Holdfast."""
    try:
        return installed("holdfast")
    except PackageNotFoundError:
        return "0"


def page(told: dict[str, Any], url: str) -> str:
    """A page that a person can read."""
    tags: dict[str, list[str]] = {}
    for path, methods in told["paths"].items():
        for method, about in methods.items():
            tags.setdefault(about["tags"][0], []).append("".join(_path(method, path, about)))
    order = sorted(tags, key=lambda tag: (tag != "holdfast", tag))
    parts = [f"<h2 id={tag}>{tag}</h2>{''.join(tags[tag])}" for tag in order]
    links = " · ".join(f"<a href=#{tag}>{tag}</a>" for tag in order)
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width'>"
        f"<title>Holdfast {escape(told['info']['version'])}</title><style>{STYLE}</style>"
        f"<h1>Holdfast {escape(told['info']['version'])}</h1>"
        f"<p>{escape(told['info']['description'])} "
        "A key goes into <code>X-API-Key</code>, a Bearer token, or the password of the URL. "
        "Errors are RFC 9457 problem details with advice. "
        "<a href=/openapi.json>OpenAPI 3.1</a></p>"
        f"<pre>{escape(TRY.format(url=url))}</pre><p>{links}</p>{''.join(parts)}</html>"
    )


def _path(method: str, path: str, about: dict[str, Any]) -> Iterator[str]:
    yield f"<details><summary><b class=m>{method.upper()}</b> <code>{escape(path)}</code> "
    yield f"{escape(about['summary'])}</summary><table>"
    for it in about.get("parameters", ()):
        must = "" if it.get("required") else "optional"
        said = f"{it['in']} {must}"
        yield _row(it["name"], it["schema"], f"{said} {it.get('description', '')}")
    for media in about.get("requestBody", {}).get("content", {}).values():
        body = media["schema"]
        for name, schema in body.get("properties", {}).items():
            must = "" if name in body.get("required", ()) else "optional"
            yield _row(name, schema, f"body {must}")
    yield "</table></details>"


def _row(name: str, schema: dict[str, Any], said: str) -> str:
    kind = escape(_kind(schema))
    return f"<tr><td><code>{escape(name)}</code><td>{kind}<td>{escape(said)}"


def _kind(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(_kind(part) for part in schema["anyOf"])
    kind = str(schema.get("type", "any JSON"))
    return f"list of {_kind(schema['items'])}" if "items" in schema else kind
