#!/bin/sh
# Installs the pinned tools once, and runs all tests of the Python SDK against the built program.
#
#   SIGNPOST=target/debug/signpost sdk/python/test.sh            with python3, and mypy, pyright and the package
#   SIGNPOST=target/debug/signpost sdk/python/test.sh --newest   only the tests, with the newest installed Python
#
# Its example sites, for other tests: venv/bin/python examples/{fastapi_site,flask_site,django_site,handlers}.py
set -eu
SIGNPOST="${SIGNPOST:+$(realpath -m "$SIGNPOST")}"
cd "$(dirname "$0")"
export SIGNPOST="${SIGNPOST:-$PWD/../../target/debug/signpost}"
need_program() {
  [ -x "$SIGNPOST" ] || { echo "The tests need the built program: cargo build, or SIGNPOST=…" >&2; exit 1; }
}

# install FOLDER PYTHON: installs the pinned tools and this package, if missing.
install() {
  [ "$1" -nt tests/requirements.txt ] && [ "$1" -nt pyproject.toml ] && return
  "$2" -m venv --clear "$1"
  "$1/bin/pip" install --quiet --disable-pip-version-check --no-deps -r tests/requirements.txt
  "$1/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
  touch "$1"
}
# The newest installed Python, including those of pyenv.
newest() {
  for version in 3.15 3.14 3.13 3.12; do
    for python in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python; do
      if "$python" -c '' 2>/dev/null; then echo "$python"; return; fi
    done
  done
}

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  { echo "The Python SDK needs Python 3.11 or newer; this is $(python3 --version)." >&2; exit 1; }
if [ "${1:-}" = --newest ]; then
  shift
  need_program
  newest="$(newest)"
  [ -n "$newest" ] || { echo "Python 3.12 or newer is not installed." >&2; exit 1; }
  install venv-newest "$newest"
  "$newest" --version
  exec timeout 600 venv-newest/bin/pytest "$@"
fi
install venv python3
[ "${1:-}" != --install ] || exit 0
need_program

venv/bin/ruff format --quiet --check src tests examples recipes
venv/bin/ruff check --quiet src tests examples recipes
venv/bin/mypy --strict --no-error-summary src tests examples recipes
venv/bin/pyright --pythonpath venv/bin/python >pyright.log || { cat pyright.log; exit 1; }
timeout 600 venv/bin/pytest "$@"
[ $# -eq 0 ] || exit 0

rm -rf dist
venv/bin/python -m build --no-isolation --outdir dist . >build.log 2>&1 || { cat build.log; exit 1; }
if tar -tzf dist/*.tar.gz | grep -E '/(venv|venv-newest|tests|examples|recipes)/'; then
  echo "The package contains files of its tests." >&2; exit 1
fi
venv/bin/twine check --strict dist/*
venv/bin/check-wheel-contents dist/*.whl
