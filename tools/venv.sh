#!/bin/sh
# Makes .venv, with pip in it, out of whatever this machine has.
set -eu
python=${1:-python3}

say() { echo "holdfast: $*" >&2; }

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
    say "Python 3.10 or newer is needed; name one: make PYTHON=/path/to/python3"
    exit 1
fi
if .venv/bin/python -c 'import sys, pip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
    exit 0
fi
rm -rf .venv

# Debian ships venv without ensurepip, which it needs, unless python3-venv is installed.
has_venv() { "$python" -c 'import ensurepip, venv' 2>/dev/null; }

if ! has_venv && command -v uv >/dev/null; then
    exec uv venv --quiet --seed --python "$python" .venv
elif ! has_venv && command -v virtualenv >/dev/null; then
    exec virtualenv --quiet --python "$python" .venv
elif ! has_venv && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    say "installing $package"
    apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$package" >&2
fi
if ! has_venv; then
    say "this Python cannot make a virtual environment." \
        "Install python3-venv (apt install python3-venv), uv or virtualenv, then run make again."
    exit 1
fi
exec "$python" -m venv .venv
