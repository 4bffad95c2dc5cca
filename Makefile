# Works with GNU make 3.81 and later. `make help` lists the targets. Tools are installed into
# .cache: those written in Go in these versions, those written in Python in the versions of
# scripts/requirements, DynamoDB Local in the version of scripts/dynamodb-local.sh.

GOLANGCI_LINT_VERSION := v2.15.0
GOVULNCHECK_VERSION   := v1.8.0
GREMLINS_VERSION      := v0.6.0
AIR_VERSION           := v1.67.4

PORT        ?= 3000
CLIENT_PORT ?= 3002
DATA_DIR    ?= .local
ENV         ?= dev
ENVIRONMENT ?= aws
FOR         ?= 1h

GOLANGCI_LINT := .cache/tools/golangci-lint-$(GOLANGCI_LINT_VERSION)/golangci-lint
GOVULNCHECK   := .cache/tools/govulncheck-$(GOVULNCHECK_VERSION)/govulncheck
GREMLINS      := .cache/tools/gremlins-$(GREMLINS_VERSION)/gremlins
AIR           := .cache/tools/air-$(AIR_VERSION)/air
JAVASCRIPT    := .cache/tools/javascript
LOCAL         := .cache/bin/local

# Flags of deployed binaries: static, stripped, and identical in every folder and at every commit.
# -s implies -w.
FUNCTION_FLAGS := -trimpath -buildvcs=false -tags=lambda.norpc -ldflags=-s

# Everything is built with them, so that all targets and sam build share the build cache. Otherwise
# each package would be compiled several times. Tests link faster without cgo and symbol tables.
# `make lint` runs vet.
export CGO_ENABLED := 0
export GOFLAGS     := $(FUNCTION_FLAGS) -vet=off

# Containers have the architecture of this machine. $(SAM_ARCHITECTURE) is its name in Lambda.
GOARCH           = $(shell go env GOARCH)
SAM_ARCHITECTURE = $(if $(filter arm64,$(GOARCH)),arm64,x86_64)

# The engine, unless a running one is used.
ENGINE_PACKAGE := $(if $(DYNAMODB_ENDPOINT),,node_modules/.installed)

export SAM_CLI_TELEMETRY := 0

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help build build-local toggleadmin reproducible run watch sam-local invoke reset test test-race test-browser screenshots test-dynamodb-local test-sam test-unleash test-sdk test-deploy e2e simulate mutants console bench lint fmt vuln validate deploy logs outputs delete recover check clean known-env known-event local-program go

# Each target names its group after ##.
help: ## start: List the targets
	@awk 'BEGIN { FS = ":.*## "; count = split("start develop test deploy", groups, " ") } \
	/^[a-z][a-z0-9-]*:.*## [a-z]+: / { split($$2, parts, ": "); group = parts[1]; \
		lines[group] = lines[group] sprintf("  %-20s %s\n", $$1, substr($$2, length(group) + 3)) } \
	END { for (i = 1; i <= count; i++) printf "%s%s:\n%s", (i > 1 ? "\n" : ""), groups[i], lines[groups[i]] }' $(MAKEFILE_LIST)

# go list -export compiles what all functions share, once. sam build then links each function.
build: ## deploy: Build every function for AWS with the SAM CLI, into .aws-sam
	rm -rf .aws-sam/build
	GOOS=linux GOARCH=arm64 go list -export ./functions/... >/dev/null
	scripts/python-tool.sh sam build

build-local: ## start: Build every function for sam local on this machine, into .aws-sam/local
	@scripts/build-local.sh

# Static, so that it runs on other machines with this operating system and processor. It contains
# its commit.
toggleadmin: ## deploy: Build the operator's command line, .cache/bin/toggleadmin
	go build -buildvcs=auto -o .cache/bin/toggleadmin ./cmd/toggleadmin

reproducible: ## test: Build functions twice, with and without SAM in two folders, and compare the files: COLD= (1: all of them, the second time with an empty build cache)
	@scripts/build-local.sh $(if $(SKIP_WITHOUT_PYTHON),--skip-without-python)
	@COLD='$(COLD)' scripts/reproducible.sh

# make passes the variables of its command line and environment on. exec, so that signals reach the
# program.
run: go $(ENGINE_PACKAGE) local-program ## start: Serve the API on this machine: PORT=3000 CLIENT_PORT=3002 DATA_DIR=.local WEBHOOK_URL= WEBHOOK_EVENTS= DYNAMODB_ENDPOINT= OIDC_ISSUER= OIDC_CLIENT_ID= OIDC_DEFAULT_ROLE= OIDC_GROUPS_CLAIM= GROUPS_MAX_AGE_DAYS= MAX_TOKEN_DAYS= TRUSTED_PROXIES= CLIENT_ORIGIN_SECRET=
	@exec $(LOCAL)

watch: go $(ENGINE_PACKAGE) $(AIR) ## start: Like run, but rebuild and restart after every change
	@exec $(AIR) -c .air.toml

# Docker is checked before the build.
sam-local: go $(ENGINE_PACKAGE) local-program ## start: Serve the API by sam local, in containers: PORT=3000 DATA_DIR=.local DYNAMODB_ENDPOINT=
	@scripts/sam-local.sh sam-local .aws-sam/local sh -c '$(MAKE) --no-print-directory build-local && exec $(LOCAL) start-api'

# Builds one function only, into a folder of its own, so that a running sam local keeps its build.
invoke: known-event go $(ENGINE_PACKAGE) local-program ## start: Call a function by sam local with its event in events/: FN=update-feedback DYNAMODB_ENDPOINT= (without it: new tables)
	@function=$$(scripts/logical-id.sh '$(FN)') && \
	scripts/python-tool.sh sam build "$$function" --config-env local \
		--parameter-overrides Architecture=$(SAM_ARCHITECTURE) --build-dir .aws-sam/invoke/build >&2 && \
	scripts/sam-local.sh invoke .aws-sam/invoke $(LOCAL) invoke "$$function" \
		'events/$(FN).json' --built=.aws-sam/invoke/build/template.yaml

reset: ## start: Delete the data of `make run`: DATA_DIR=.local
	@scripts/reset.sh '$(DATA_DIR)'

# Without the suites that have targets of their own: they are not fast, and without the targets they
# would be linked and then skipped.
LIST_FAST_TESTS = go list ./... | grep -Ev '/test/(browser|deploy|samlocal|sdk|unleash)(/|$$)'
FAST_TESTS      = $$($(LIST_FAST_TESTS))

# These have goroutines, or run all functions at the same time in one process: the end-to-end
# scripts with the local service, and the simulated world. The detector makes a test ten times as
# slow, and would find nothing more in the others. With -short, tests of large amounts of data are
# skipped, too: they have one goroutine.
RACE_TESTS = ./pkg/delivery/client ./pkg/delivery/counting ./pkg/evaluation ./pkg/local/bus ./pkg/local/gateway \
	./pkg/local/invoke ./pkg/local/trigger ./pkg/platform/access ./pkg/platform/app ./pkg/platform/lambdahttp \
	./pkg/platform/oidc ./test/e2e ./test/simulation

# Some tests wait, so two packages per CPU run at the same time.
PACKAGES = -p=$$(($$(getconf _NPROCESSORS_ONLN) * 2))

# Heaps are small: GOGC=400 saves a tenth of the CPU time.
test: go node_modules/.installed ## develop: Run every fast test
	@GOGC=400 go test $(PACKAGES) $(FAST_TESTS)

# The detector requires cgo. What the tests build does not, and is in the cache without it.
test-race: node_modules/.installed ## develop: Run the fast tests that have goroutines with the race detector, in random order
	@if [ "$$(env -u CGO_ENABLED go env CGO_ENABLED)" = 1 ]; then export CGO_ENABLED=1; race=-race; \
	else echo 'test-race: no C compiler, so without the race detector'; fi; \
	go test $$race -short $(PACKAGES) -shuffle=on -exec 'env CGO_ENABLED=0' $(RACE_TESTS)

test-browser: node_modules/.installed test/browser/node_modules/.installed ## test: Test the pages in Chromium
	@chromium=$$(scripts/chromium.sh) || { echo 'skipped $@: Chromium is not installed'; exit 0; }; \
	set -x; CHROMIUM=$$chromium go test -count=1 -parallel=4 -timeout=1h ./test/browser

screenshots: node_modules/.installed test/browser/node_modules/.installed ## develop: Take the screenshots of docs/images; needs Chromium
	SCREENSHOTS=1 CHROMIUM=$$(scripts/chromium.sh) go test -count=1 -run '^TestScripts$$/^(walkthrough|screenshots.*)$$' ./test/browser

# Of these packages, those whose tests use an engine. The tests that are skipped count capacity
# units, which differ.
DYNAMODB_LOCAL_TESTS = $$(go list -test -f '{{$$package := .ForTest}}{{range .Deps}}\
	{{if eq . "toggleadmin/test/helper/enginetest"}}{{$$package}}{{end}}{{end}}' \
	./pkg/... ./cmd/local ./test/e2e ./test/simulation/dynamodb | sort -u)

test-dynamodb-local: ## test: Run the tests that use an engine on AWS's DynamoDB Local; needs Java 17 and Maven
	@endpoint=$$(scripts/dynamodb-local.sh start --isolated --port 8100); status=$$?; \
	[ "$$status" -ne 3 ] || { echo "skipped $@: $$endpoint"; exit 0; }; [ "$$status" -eq 0 ] || exit 1; \
	trap 'scripts/dynamodb-local.sh stop --port 8100' EXIT; set -x; \
	DYNAMODB_ENDPOINT=$$endpoint go test -count=1 -timeout=30m -p 1 -skip '^TestCalls(Of|With|In)' $(DYNAMODB_LOCAL_TESTS)

test-sam: node_modules/.installed ## test: Run the scripts and the commands of docs/sam-local.md under sam local; installs and starts Docker if necessary
	@scripts/sam-local.sh --skip test-sam .aws-sam/local go -C test/samlocal test -count=1 -parallel=5 -timeout=1h

test-unleash: node_modules/.installed ## test: Import 2,000 toggles from a real Unleash on PostgreSQL, and move applications with five SDKs from it and back; installs them
	@scripts/unleash.sh go test -C test/unleash -count=1 -v -timeout=30m
	@scripts/unleash.sh scripts/test-sdk.sh -v -run='^TestSwitch$$' ./test/sdk

test-sdk: node_modules/.installed ## test: Run SDKs of Unleash and OpenFeature, and nginx as a cache, against the local service; compare evaluations with those of SDKs
	@scripts/test-sdk.sh

test-deploy: ## test: Deploy with sam into an emulator of AWS and test the stack: TESTS= (such as TestDeploy)
	@scripts/test-deploy.sh -timeout=2h -run='^($(if $(TESTS),$(TESTS),Test.*))$$'

e2e: ## test: Run the end-to-end scripts against a running service: URL= CLIENT_URL= (for applications, optional) CREDENTIALS= (a file) ENVIRONMENT=aws
	@[ -n '$(URL)' ] && [ -r '$(CREDENTIALS)' ] || { echo 'usage: make e2e URL=https://… CREDENTIALS=file [CLIENT_URL=https://…] [ENVIRONMENT=aws]' >&2; exit 2; }
	BASE_URL='$(URL)' CLIENT_URL='$(CLIENT_URL)' CREDENTIALS='$(abspath $(CREDENTIALS))' ENVIRONMENT='$(ENVIRONMENT)' go test -count=1 -run '^TestScripts$$' ./test/e2e

simulate: ## test: Search the simulated world for violations, and keep failing seeds in .cache/simulation: FOR=1h
	@mkdir -p .cache/simulation
	go test -count=1 -timeout=0 -v -run '^TestSeeds$$' -artifacts -outputdir='$(CURDIR)/.cache/simulation' ./test/simulation -for='$(FOR)'

# Only the package's own tests run. gremlins copies the tree without node_modules, and the tests
# find the engine in a folder above the copy.
mutants: $(GREMLINS) node_modules/.installed ## test: Run mutation tests of a package, which can take an hour: PACKAGE=pkg/api/feedback
	@[ -d '$(PACKAGE)' ] || { echo 'usage: make mutants PACKAGE=pkg/api/feedback' >&2; exit 2; }
	@tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; ln -s '$(CURDIR)/node_modules' "$$tmp/node_modules"; \
	TMPDIR="$$tmp" $(GREMLINS) unleash './$(PACKAGE)'

console: node_modules/.installed ## develop: Write the libraries of the web pages, the OpenAPI document, the types of events and the examples of SDKs into pkg/api/console/static
	go test -count=1 ./pkg/api/console -run '^Test(Libraries|Document|EventTypes|Examples)$$' -update

bench: node_modules/.installed ## develop: Measure start, size, memory, latency and throughput: BENCH= (such as 'http --clients=16')
	@$(if $(filter unleash,$(BENCH)),scripts/unleash.sh) go run ./test/bench $(BENCH)

lint: $(GOLANGCI_LINT) $(JAVASCRIPT)/.installed ## develop: Check style, defects, types and import rules
	$(GOLANGCI_LINT) run ./...
	scripts/lint-javascript.sh $(JAVASCRIPT)/node_modules/.bin
	GOLANGCI_LINT='$(CURDIR)/$(GOLANGCI_LINT)' go test -run='^TestViolationsAreReported$$' ./test/repository
	go mod tidy -diff

fmt: $(GOLANGCI_LINT) ## develop: Format the Go files
	$(GOLANGCI_LINT) fmt ./...

vuln: $(GOVULNCHECK) ## develop: Check for known vulnerabilities: SKIP_WITHOUT_DATABASE= (1: succeed if the database cannot be reached)
	@scripts/vulnerabilities.sh $(GOVULNCHECK) ./...

validate: ## develop: Check the templates, their expansion by SAM, samconfig.toml and the deployer's policies
	scripts/python-tool.sh --skip-without-python cfn-lint template.yaml delivery.yaml docs/web-acl.yaml docs/client-domain.yaml
	scripts/python-tool.sh --skip-without-python python scripts/expansion.py .cache
	scripts/python-tool.sh --skip-without-python python scripts/expansion_test.py
	scripts/python-tool.sh --skip-without-python python scripts/deployer-policy.py
	scripts/python-tool.sh --skip-without-python python scripts/stack_test.py
	scripts/python-tool.sh --skip-without-python checkov --config-file .checkov.yaml

STACK := scripts/python-tool.sh python scripts/stack.py

deploy: known-env build ## deploy: Deploy to AWS and watch the alarms: ENV=dev (a section of samconfig.toml) NOW= (1: all at once, without alarms)
	@$(STACK) deploy '$(ENV)' '$(NOW)'

logs: ## deploy: Follow the log of a deployed function: FN= (such as authorizer) ENV=dev
	@$(STACK) logs '$(ENV)' '$(FN)'

outputs: ## deploy: Show the outputs of a stack, its URL first: ENV=dev
	@$(STACK) outputs '$(ENV)'

delete: ## deploy: Delete a stack, but not its tables: ENV=dev
	@$(STACK) delete '$(ENV)'

recover: ## deploy: Delete a stack whose first deployment failed, and its tables: ENV=dev
	@$(STACK) recover '$(ENV)'

# A check without Python skips the build by the SAM CLI. A deployment fails.
check: SKIP_WITHOUT_PYTHON := 1
check: test test-race lint vuln validate reproducible ## develop: Run test, test-race, lint, vuln, validate and reproducible

clean: ## develop: Delete builds and tools, but no data
	rm -rf .aws-sam .cache node_modules test/browser/node_modules

known-env: # rejects a wrong ENV or NOW before the build
	@$(STACK) check '$(ENV)' '$(NOW)'

known-event: # rejects a wrong FN before the build
	@[ -e 'events/$(FN).json' ] || { echo "make: FN '$(FN)' has no sample event: use the name of a file in events/, such as FN=update-feedback" >&2; exit 2; }

# Before npm installs anything.
go:
	@command -v go >/dev/null || { echo "make: Go is missing: install $$(sed -n 's/^go //p' go.mod) or later, see https://go.dev/doc/install" >&2; exit 1; }

local-program:
	@[ -x $(LOCAL) ] || echo 'Compiling… The first time takes a minute or two.' >&2
	@go build -o $(LOCAL) ./cmd/local

# npm ci deletes node_modules, and this file with it.
node_modules/.installed: package.json package-lock.json
	@scripts/engine.sh
	@touch $@

test/browser/node_modules/.installed: test/browser/package.json test/browser/package-lock.json
	npm ci --prefix test/browser --no-audit --no-fund
	@touch $@

$(GOLANGCI_LINT):
	GOBIN='$(CURDIR)/$(@D)' go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)

# make run and make test do not need them.
$(JAVASCRIPT)/.installed: scripts/javascript/package.json scripts/javascript/package-lock.json
	@mkdir -p $(@D)
	@cp $^ $(@D)
	cd $(@D) && npm ci --no-audit --no-fund
	@touch $@

$(GOVULNCHECK):
	GOBIN='$(CURDIR)/$(@D)' go install golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION)

$(GREMLINS):
	GOBIN='$(CURDIR)/$(@D)' go install github.com/go-gremlins/gremlins/cmd/gremlins@$(GREMLINS_VERSION)

$(AIR):
	GOBIN='$(CURDIR)/$(@D)' go install github.com/air-verse/air@$(AIR_VERSION)
