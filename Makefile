# The work of this project by name. `make ci` is what CI runs, no more and no less.
.PHONY: reference run programs clients sdks test test-rust test-postgres test-clients test-api test-sdks test-newest-python test-pages test-openid check fmt doc unused lint deny bench accuracy fuzz soak upgrade ci setup gazetteer release

# Notes how long a part of the tests takes; `make ci` prints all of them at its end.
PART := bash tests/part.sh

# Many tests wait for servers more than they compute, so two cores run four of them at a time.
export RUST_TEST_THREADS ?= $(shell cores="$$(nproc)"; echo $$((cores > 4 ? cores : 4)))

# A property is tried with the same inputs in each run, so that a failure belongs to the change. Other inputs:
# `PROPTEST_CASES=10000 cargo test`.
export PROPTEST_RNG_SEED ?= 1

run:
	cargo run --release -- serve

# Everything a newcomer needs to see green; installs what is missing where it may. Two parts run at a time, for each of them
# waits for the network, for a lock or for servers: first the Rust tests beside installations and what needs only the
# program, then the rest. The longest begin first: --assume-old, for otherwise make would start those first whose
# prerequisites are built first. Three at a time overload two cores: two tests failed for lack of time.
test: setup
	$(MAKE) --no-print-directory --jobs=2 --output-sync=line test-rust sdks test-api
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target --assume-old=programs --assume-old=clients --assume-old=sdks \
	  test-pages test-postgres test-openid test-sdks test-clients

# All of it selects the whole workspace with what its tests need: other selections have other features, and each of them
# would build every dependency anew.
test-rust:
	$(PART) "build: tests" cargo test --workspace --lib --bins --tests --examples --quiet --no-run
	$(PART) "Rust tests, SQLite" cargo test --workspace --lib --bins --tests --examples --quiet
	cargo test --workspace --test contract --quiet -- --ignored every_documented_reply_was_seen
	$(PART) "Rust tests, docs" cargo test --workspace --doc --quiet

# The tests with servers once more, on a PostgreSQL server that is started for them; those of several servers, with a Redis;
# half a minute in which all of these are killed under load; and the loss of a primary that has a standby.
test-postgres:
	$(PART) "Rust tests, PostgreSQL" sh tests/postgres.sh
	$(PART) "soak" sh tests/soak.sh
	$(PART) "failover" sh tests/failover.sh

# Clients of the Model Context Protocol, its conformance suite, assistants that it is installed into, and Lightning wallets
# against the built programs.
test-clients: clients programs
	$(PART) "MCP and Lightning clients" sh tests/clients/run.sh

# Installs these clients, and the Node that they bring.
clients:
	$(PART) "install: clients" sh tests/clients/run.sh --install

# Requests made up from openapi.yaml against the built program, and the conformance kit against our own receiver.
test-api: programs
	$(PART) "requests from openapi.yaml" sh tests/api/run.sh
	$(PART) "conformance" sh tests/conformance.sh
	$(PART) "guides" bash tests/integrate.sh
	$(PART) "deploy: files" sh tests/deploy/run.sh
	$(PART) "deploy: package" sh tests/deploy/package.sh
	$(PART) "deploy: release" sh tests/deploy/release.sh

# The SDKs in TypeScript, Python and Go, each with the tools of its language. The one in Rust is in `test-rust`.
test-sdks: sdks programs
	$(PART) "SDKs" sh tests/sdk/run.sh

# Builds them and their example sites, which the tests of the pages visit. They take the Node that the clients bring.
sdks: clients
	$(PART) "install: SDKs" sh tests/sdk/run.sh --install

# The Python SDK with the newest Python that is here; test-sdks takes python3.
test-newest-python: programs
	sh sdk/python/test.sh --newest

# The pages in Debian's Chromium, as the people who log in use them.
test-pages: sdks programs
	$(PART) "vendored files" sh tests/vendor.sh
	$(PART) "pages" sh tests/pages/run.sh

# Relying parties that others wrote, each of which logs people in by the built program: by one server, and by three.
test-openid: programs
	$(PART) "OpenID, SQLite" sh tests/openid/run.sh
	$(PART) "OpenID, PostgreSQL" sh tests/openid/run.sh --postgres
	$(PART) "forward auth" sh tests/openid/forward.sh

programs:
	$(PART) "build: programs" cargo build --workspace --bin signpost --examples --quiet

setup:
	$(PART) "install: packages" sh tests/setup.sh

# The second clippy sees the code of a program without traces, which stands in one crate.
check:
	cargo fmt --all --check
	$(PART) "clippy" cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(PART) "clippy, platform alone" cargo clippy --package signpost-platform --quiet -- -D warnings
	$(MAKE) --no-print-directory doc unused

fmt:
	cargo fmt --all

doc:
	$(PART) "rustdoc" env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --quiet

# Dependencies that no source names, or only tests.
unused:
	sh tests/tools/run.sh cargo-shear

# Licences, bans and sources. Advisories need the public network and run where there is one:
# `sh tests/tools/run.sh cargo-deny check`.
deny:
	cargo fetch --quiet --locked
	sh tests/tools/run.sh cargo-deny --offline --log-level error check licenses bans sources

# A minute of made-up texts to every parser and to the cleaning of text; the corpora are replayed by `make test`. Selected
# as all tests are: other selections have other features, and each of them would build every dependency anew.
fuzz:
	cargo test --quiet --release --workspace --test it --test contract -- --ignored --nocapture fuzz::

# Ratios against baselines of the same run; see bench/README.md.
bench:
	sh bench/run.sh

# How well places are understood: the questions of crates/locator/tests/questions.tsv, by kind, and the addresses of a file
# of machines where one is given, as in `make accuracy FILE=machines.tsv ONLY=category=atm`.
accuracy:
	cargo run --quiet --release --package signpost-locator --example accuracy -- $(FILE) $(ONLY)

# Makes the page of the API reference of openapi.yaml, docs/configuration.md of config.default.toml, docs/cli.md of the help.
reference:
	cargo test --package signpost --test contract --quiet -- --ignored write_the_page

# Rebuilds the place names and the airports from their pinned sources, byte for byte; see data/NOTICE.md.
gazetteer:
	sh data/gazetteer.sh
	sh data/airports.sh
	sh data/states.sh

# A Debian package, an archive, a list of what the program is made of, and their SHA-256, in dist/.
release:
	sh deploy/package/release.sh

# Ten minutes of three servers under load, while they and what they stand on are killed and restarted.
soak:
	sh tests/soak.sh 600

# Three servers of an older version under load are replaced by this one. It builds that version, so CI does not run it.
upgrade:
	sh tests/upgrade.sh $(OLD)

# Prints how long each part took, also when one has failed.
ci:
	$(PART) --reset
	status=0; $(MAKE) --no-print-directory setup && \
	  $(MAKE) --no-print-directory --jobs=2 --output-sync=line lint sdks && \
	  $(MAKE) --no-print-directory test || status=$$?; $(PART) --table; exit $$status

# All checks that run no test, one after the other: they share a lock.
lint:
	$(MAKE) --no-print-directory --jobs=1 check deny
