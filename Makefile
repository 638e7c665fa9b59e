# `make help` lists what can be made.

PREFIX ?= /usr/local
export DURATION ?= 60s
export DEADLINE ?= 1ms

.PHONY: build run check test fuzz stats-study lab bench dist release book reference install clean help

build: ## the program, static where that can be had: target/latlab
	@scripts/setup.sh build
	@scripts/build.sh

run: ## build in a quick form, measure this machine for DURATION (60s) against DEADLINE (1ms), and name the page
	@scripts/setup.sh build
	@LATLAB_PROFILE=first scripts/build.sh
	@scripts/run.sh

check: ## format, lints and the tests without root, network or real time: a minute
	@scripts/check.sh

test: ## install what the tests need; `make check`, and the program end to end on this machine: some minutes
	@scripts/test.sh

fuzz: ## give every reader of captures, recordings and boards a minute of damaged input
	@LATLAB_FUZZ_SECONDS=60 cargo test -p latlab-capture --test it fuzz -- --test-threads 2
	@LATLAB_FUZZ_SECONDS=60 cargo test -p latlab-formats --test it fuzz -- --test-threads 2
	@LATLAB_FUZZ_SECONDS=60 cargo test -p latlab-conduct --lib fuzz

lab: ## what needs QEMU, browsers, boards or packages, or PART of it; LONG=1 takes some three hours
	@scripts/lab.sh $(PART)

stats-study: ## how often the statements of the statistics hold where the truth is known; the table goes to results/
	@scripts/stats_study.sh

bench: ## measure latlab against the other tools; the figures go to results/
	@scripts/setup.sh build bench
	@scripts/build.sh
	@python3 benches/run.py

dist: ## static programs, agents, Debian packages and Python wheels for three architectures or for ARCH, to dist/
	@scripts/setup.sh dist
	@ARCH=$(ARCH) scripts/dist.sh

release: ## what `make dist` makes, the book, a container image, and what pipelines call, with checksums, to dist/
	@scripts/setup.sh dist book
	@scripts/dist.sh
	@scripts/release.sh

book: ## the guides and the reference as a site with a search, to target/book
	@scripts/setup.sh book
	@scripts/book.sh

reference: ## write docs/reference anew: man pages, completions, JSON Schemas
	@scripts/reference.sh

share = $(DESTDIR)$(PREFIX)/share

install: ## copy the program, man pages and completions below PREFIX (/usr/local); run `make` before
	@test -e target/latlab || { echo "nothing to install: run 'make' first" >&2; exit 1; }
	install -D -m 755 target/latlab $(DESTDIR)$(PREFIX)/bin/latlab
	cd responders && find . -type f ! -path '*/build/*' -exec install -D -m 644 {} $(share)/latlab/responders/{} \;
	$(if $(CYCLICTEST),ln -sf latlab $(DESTDIR)$(PREFIX)/bin/cyclictest)
	install -d $(share)/man/man1
	install -m 644 docs/reference/man/*.1 $(share)/man/man1
	cd docs/reference/completions && \
	    install -D -m 644 latlab.bash $(share)/bash-completion/completions/latlab && \
	    install -D -m 644 _latlab $(share)/zsh/site-functions/_latlab && \
	    install -D -m 644 latlab.fish $(share)/fish/vendor_completions.d/latlab.fish

clean: ## remove what was built; runs and results stay
	rm -rf target dist

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18
