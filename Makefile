# The tasks of this project. `make ci` is exactly the CI run.
.PHONY: reference run programs clients sdks pages test test-rust test-postgres test-clients test-api test-sdks test-newest-python test-pages test-engines test-openid check language fmt doc unused lint deny bench accuracy fuzz soak upgrade ci setup gazetteer release

# Records the duration of a part of the tests; `make ci` prints all of them at the end.
PART := bash tests/part.sh

# Many tests mostly wait for servers, so two cores run four of them at a time.
export RUST_TEST_THREADS ?= $(shell cores="$$(nproc)"; echo $$((cores > 4 ? cores : 4)))

# Property tests use fixed inputs, so that a failure belongs to the change. For other inputs:
# `PROPTEST_CASES=10000 cargo test`.
export PROPTEST_RNG_SEED ?= 1

run:
	cargo run --release -- serve

# All checks for a new contributor; installs missing packages if permitted. Two parts run at a time, because each of them
# waits for the network, a lock or servers: first the Rust tests in parallel with installations and the parts that need
# only the program, then the rest. The longest parts start first: --assume-old, because otherwise make would start the
# targets with built prerequisites first. Three at a time overload two cores: two tests failed with a timeout.
test: setup
	$(MAKE) --no-print-directory --jobs=2 --output-sync=line test-rust sdks pages test-api
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target --assume-old=programs --assume-old=clients --assume-old=sdks \
	  --assume-old=pages \
	  test-pages test-postgres test-openid test-engines test-sdks test-clients

# Selects the whole workspace with the features of its tests: other selections have other features, and would build every
# dependency again.
test-rust:
	$(PART) "build: tests" cargo test --workspace --lib --bins --tests --examples --quiet --no-run
	$(PART) "Rust tests, SQLite" cargo test --workspace --lib --bins --tests --examples --quiet
	cargo test --workspace --test contract --quiet -- --ignored every_documented_reply_was_seen
	$(PART) "Rust tests, docs" cargo test --workspace --doc --quiet

# Repeats the tests with servers on a PostgreSQL server, and the tests of several servers with Redis; then half a minute in
# which all of these are killed under load; and the failover of a primary to its standby.
test-postgres:
	$(PART) "Rust tests, PostgreSQL" sh tests/postgres.sh
	$(PART) "soak" sh tests/soak.sh
	$(PART) "failover" sh tests/failover.sh

# Tests clients of the Model Context Protocol, its conformance suite, the installation into assistants, and Lightning
# wallets against the built programs.
test-clients: clients programs
	$(PART) "MCP and Lightning clients" sh tests/clients/run.sh

# Installs these clients and their Node.js.
clients:
	$(PART) "install: clients" sh tests/clients/run.sh --install

# Tests the built program with requests generated from openapi.yaml, and our receiver with the conformance kit.
test-api: programs
	$(PART) "requests from openapi.yaml" sh tests/api/run.sh
	$(PART) "conformance" sh tests/conformance.sh
	$(PART) "guides" bash tests/integrate.sh
	$(PART) "deploy: files" sh tests/deploy/run.sh
	$(PART) "deploy: package" sh tests/deploy/package.sh
	$(PART) "deploy: release" sh tests/deploy/release.sh

# Tests the SDKs in TypeScript, Python and Go with the tools of each language, and the commands of their pages. The Rust SDK is
# in `test-rust`.
test-sdks: sdks programs
	$(PART) "SDKs" sh tests/sdk/run.sh
	$(PART) "SDK pages" bash tests/sdk/pages.sh

# Builds the SDKs and their example sites, which the tests of the pages visit. Uses the Node.js of the clients.
sdks: clients
	$(PART) "install: SDKs" sh tests/sdk/run.sh --install

# Tests the Python SDK with the newest installed Python; test-sdks uses python3.
test-newest-python: programs
	sh sdk/python/test.sh --newest

# Installs the driver of Chromium and the packages of the test sites.
pages: clients
	$(PART) "install: pages" sh tests/pages/run.sh --install

# Tests the pages in Debian's Chromium.
test-pages: sdks pages programs
	$(PART) "vendored files" sh tests/vendor.sh
	$(PART) "pages" sh tests/pages/run.sh

# Tests the main journeys in Debian's Firefox and WebKitGTK.
test-engines: pages programs
	$(PART) "Firefox, WebKit" sh tests/engines/run.sh

# Tests logins at third-party relying parties with the built program: with a single server, and with three.
test-openid: programs
	$(PART) "OpenID, SQLite" sh tests/openid/run.sh
	$(PART) "OpenID, PostgreSQL" sh tests/openid/run.sh --postgres
	$(PART) "forward auth" sh tests/openid/forward.sh

programs:
	$(PART) "build: programs" cargo build --workspace --bin signpost --examples --quiet

setup:
	$(PART) "install: packages" sh tests/setup.sh

# The second clippy checks the code of a program without traces, which is in a single crate.
check:
	cargo fmt --all --check
	$(PART) "clippy" cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(PART) "clippy, platform only" cargo clippy --package signpost-platform --quiet -- -D warnings
	$(MAKE) --no-print-directory doc unused language

# Counts words that are rare in technical English; see STYLE.md, Language.
language:
	cargo test --workspace --test it --quiet -- language::

fmt:
	cargo fmt --all

doc:
	$(PART) "rustdoc" env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --quiet

# Finds dependencies that are unused, or used only in tests.
unused:
	sh tests/tools/run.sh cargo-shear

# Checks licences, bans and sources. Advisories require the public network and are checked separately:
# `sh tests/tools/run.sh cargo-deny check`.
deny:
	cargo fetch --quiet --locked
	sh tests/tools/run.sh cargo-deny --offline --log-level error check licenses bans sources

# Fuzzes every parser and the text cleaning for a minute; `make test` replays the corpora. Selected like all tests: other
# selections have other features, and would build every dependency again.
fuzz:
	cargo test --quiet --release --workspace --test it --test contract -- --ignored --nocapture fuzz::

# Ratios against baselines of this run; see bench/README.md.
bench:
	sh bench/run.sh

# Accuracy of the place resolver: the questions of crates/locator/tests/questions.tsv, by kind, and the addresses of a file
# of ATMs if given, as in `make accuracy FILE=machines.tsv ONLY=category=atm`.
accuracy:
	cargo run --quiet --release --package signpost-locator --example accuracy -- $(FILE) $(ONLY)
	cargo run --quiet --release --package signpost-locator --example world

# Generates the API reference from openapi.yaml, docs/configuration.md from config.default.toml, docs/cli.md from the help.
reference:
	cargo test --package signpost --test contract --quiet -- --ignored write_the_page

# Rebuilds the place names, the airports and the lines of the map from their pinned sources, byte for byte; see data/NOTICE.md.
gazetteer:
	sh data/gazetteer.sh
	sh data/airports.sh
	sh data/states.sh
	sh data/world.sh

# Builds a Debian package, an archive, an SBOM and their SHA-256, in dist/.
release:
	sh deploy/package/release.sh

# Ten minutes of three servers under load, while they and their databases are killed and restarted.
soak:
	sh tests/soak.sh 600

# Replaces three servers of an older version under load by this version. It builds the older version, so CI does not run it.
upgrade:
	sh tests/upgrade.sh $(OLD)

# Prints the duration of each part, also after a failure.
ci:
	$(PART) --reset
	status=0; $(MAKE) --no-print-directory setup && \
	  $(MAKE) --no-print-directory --jobs=2 --output-sync=line lint sdks && \
	  $(MAKE) --no-print-directory test || status=$$?; $(PART) --table; exit $$status

# All checks without tests, in sequence: they share a lock.
lint:
	$(MAKE) --no-print-directory --jobs=1 check deny
