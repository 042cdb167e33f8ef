# Everything that is done to this repository. Go is needed, and nothing else;
# tools are pinned in tools/go.mod and built once into the cache.

CACHE     ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/dovetail
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
FUZZTIME  ?= 10s
BENCH     ?= .
BENCHTIME ?= 1s
TESTFLAGS ?=

LINT_VERSION := $(shell awk '/golangci-lint\/v2 v/ {print $$2}' tools/go.mod)
LINT         := $(CACHE)/golangci-lint-$(LINT_VERSION)

.DEFAULT_GOAL := help

.PHONY: help
help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/dovetail
	go build -trimpath -ldflags '-X main.version=$(VERSION)' -o bin/dovetail ./cmd/dovetail

.PHONY: test
test: ## run the tests
	go test $(TESTFLAGS) ./...

.PHONY: race
race: ## run the tests of what runs in parallel, under the race detector
	go test -race ./cmd/... ./internal/api/... ./internal/catalog/...

.PHONY: agreement
agreement: ## hold plans against kube-scheduler's own filters; builds them the first time
	cd test/agreement && go test ./...

.PHONY: lint
lint: $(LINT) ## check format, vet, lint
	@unformatted=$$(gofmt -s -l $$(git ls-files --cached --others --exclude-standard '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted (gofmt -s -w):"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	GOLANGCI_LINT_CACHE=$(CACHE)/lint $(LINT) run ./...

# The linter is a module of its own, so that what it needs stays out of go.mod.
$(LINT): tools/go.mod tools/go.sum
	@mkdir -p $(CACHE)
	@echo "building golangci-lint $(LINT_VERSION); this takes minutes, once"
	cd tools && go build -o $(LINT) github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $(LINT)

DEMO := go run ./cmd/dovetail plan -f examples/parcel --now 2026-02-03T09:30:00Z

.PHONY: demo
demo: ## plan the example cluster, and explain one pod that is left out
	$(DEMO)
	@echo
	$(DEMO) --explain ml/foundation-tune

.PHONY: bench
bench: ## run the benchmarks (BENCH=regexp BENCHTIME=1s)
	go test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -benchmem ./test/bench/...

.PHONY: fuzz
fuzz: ## fuzz every parser for a while (FUZZTIME=10s each)
	@set -e; for dir in $$(go list -f '{{.Dir}}' ./...); do \
		for name in $$(cat $$dir/*_test.go 2>/dev/null | sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p'); do \
			echo "$$name in .$${dir#$(CURDIR)}"; \
			go test -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZTIME) "$$dir"; \
		done; \
	done

.PHONY: example
example: ## write the files of examples/parcel anew
	go run ./examples/gen examples/parcel

.PHONY: readme
readme: ## put what the demo prints into README.md
	@$(DEMO) >README.demo
	@awk '/^<!-- demo ends/ {hidden = 0} !hidden {print} \
		/^<!-- demo begins/ {hidden = 1; print "```"; while ((getline line <"README.demo") > 0) print line; print "```"}' README.md >README.new
	@mv README.new README.md && rm README.demo

.PHONY: clean
clean: ## remove what was built here; the cache stays
	rm -rf bin
