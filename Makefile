# Plain `make` lists the targets.

CARGO ?= cargo
WASM_TARGET := wasm32-wasip1
STORY := target/debug/sluicegate-host story policy.wasm testdata/demo/story.yaml
WASM := target/$(WASM_TARGET)/guest/sluicegate_policy.wasm
# The paths of this machine's registry have no place in the module.
REGISTRY := $(or $(CARGO_HOME),$(HOME)/.cargo)/registry/src/
# Without the crate type a library would be built beside it, and cargo would do without link-time optimisation.
GUEST := RUSTFLAGS="--remap-path-prefix=$(REGISTRY)=" $(CARGO) rustc --locked --profile guest --target $(WASM_TARGET) --crate-type cdylib

# Cargo builds a crate once for each set of features that the selected packages ask of it. With the same selection
# everywhere (all default members, so `--bin` and not `-p`), demo, test and e2e share what they build, wasmtime above all.
# Building the tests of a package builds its binary, too.
SERVE := --features sluicegate-host/serve,sluicegate-host/bundle
E2E := --features sluicegate-host/serve,sluicegate-host/bundle,sluicegate-e2e/cluster

.DEFAULT_GOAL := help
.PHONY: help demo readme pictures man test e2e lint build bench bench-gate bench-check bench-companion bundle artifacthub-pkg.yml static chart manifests deny toolchain host clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-zA-Z0-9_.-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

toolchain:
	@command -v rustup >/dev/null || { echo "missing: rustup (https://rustup.rs)"; exit 1; }
	@command -v cc >/dev/null || { echo "missing: a C linker (cc), for example from gcc or clang"; exit 1; }
	@toolchain=$$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml); \
	  rustup toolchain list | grep -q "^$$toolchain" || rustup toolchain install "$$toolchain" --profile minimal; \
	  rustup target list --installed --toolchain "$$toolchain" | grep -qx $(WASM_TARGET) \
	    || rustup target add $(WASM_TARGET) --toolchain "$$toolchain"; \
	  rustup component list --installed --toolchain "$$toolchain" | grep -q '^clippy' \
	    || rustup component add clippy rustfmt --toolchain "$$toolchain"

policy.wasm: toolchain ## the policy with its metadata, ready for kwctl run and kwctl push
	$(GUEST) -p sluicegate-policy
	@cmp -s $(WASM) $@ || cp $(WASM) $@
.PHONY: policy.wasm

host: toolchain
	$(CARGO) build --locked $(SERVE) --bin sluicegate-host

demo: policy.wasm host ## the incident the project was born from, judged by the compiled policy
	@$(STORY)

readme: policy.wasm host ## put what `make demo` prints into the README
	@$(STORY) > target/story.txt
	@awk '/<!-- demo: begin/ { print; print "```text"; while ((getline line < "target/story.txt") > 0) print line; print "```"; skip = 1 } \
	  /<!-- demo: end/ { skip = 0 } !skip' README.md > target/README.md && mv target/README.md README.md

pictures: toolchain ## draw the pictures of the documentation anew
	SLUICEGATE_DRAW=1 $(CARGO) test --locked -p sluicegate-offline --test draw docs

man: build ## the manual pages and completions, under target/share/
	@mkdir -p target/share/man/man1 target/share/completions
	@target/release/sluicegate man target/share/man/man1
	@for shell in bash elvish fish kubectl powershell zsh; do target/release/sluicegate completions $$shell > target/share/completions/sluicegate.$$shell; done

test: policy.wasm lint ## formatting, clippy, and all tests that need no cluster
	SLUICEGATE_POLICY_WASM=$(CURDIR)/policy.wasm $(CARGO) test --locked $(SERVE)
	@$(STORY) > target/story.txt
	@awk '/<!-- demo: end/ { on = 0 } on && !/^```/ { print } /<!-- demo: begin/ { on = 1 }' README.md | diff - target/story.txt \
	  || { echo "the README does not show what make demo prints: make readme"; exit 1; }

# The tests `companion` and `host` are only built: with them come the binaries of their packages.
e2e: policy.wasm ## the real-cluster tests: etcd, the API server and Flux's controllers (needs go and git)
	@for tool in go git; do command -v $$tool >/dev/null || { echo "missing: $$tool (make e2e needs go 1.26, https://go.dev/dl, git, and the first time the network)"; exit 1; }; done
	$(CARGO) test --locked $(E2E) --test scenarios --test controller --test companion --test host --no-run
	target/debug/sluicegate-e2e build
	SLUICEGATE_POLICY_WASM=$(CURDIR)/policy.wasm RUST_TEST_THREADS=$${RUST_TEST_THREADS:-2} $(CARGO) test --locked $(E2E) --test scenarios --test controller

lint: toolchain
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --all-targets $(E2E) -- -D warnings
	$(CARGO) clippy --locked --target $(WASM_TARGET) -p sluicegate-policy -p sluicegate-glance -p sluicegate-bench-empty -p sluicegate-bench-template -- -D warnings

build: toolchain ## the binaries, under target/release/
	$(CARGO) build --locked --release -p sluicegate

bench: bench-gate bench-check bench-companion ## all of the next three

bench-gate: policy.wasm ## size, instantiation, hot path and reads of the policy, as ratios in one run
	$(GUEST) -p sluicegate-bench-empty
	$(GUEST) -p sluicegate-bench-template
	$(CARGO) bench --locked -p sluicegate-host --bench gate

bench-check: toolchain ## the check of 1,000 to 100,000 manifests, beside the YAML parser alone, kubeconform and kustomize
	$(CARGO) build --locked --bin sluicegate-e2e
	peers=$$(target/debug/sluicegate-e2e peers) && set -- $$peers && \
	  KUBECONFORM=$$1 KUSTOMIZE=$$2 $(CARGO) bench --locked -p sluicegate --bench check

bench-companion: build ## the companion on 10,000 objects, beside kustomize-controller (needs what make e2e needs)
	$(CARGO) test --locked $(E2E) --test controller --no-run
	target/debug/sluicegate-e2e build
	SLUICEGATE=$(CURDIR)/target/release/sluicegate $(CARGO) test --locked $(E2E) --test controller -- --ignored --nocapture measure

# The time of the last commit is the time of all that is made from it: whoever builds it again gets the same bytes.
EPOCH = $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null),0)
BUNDLED := target/debug/sluicegate-host
BUNDLE := target/bundle

bundle: policy.wasm ## what a release is made of, under target/bundle/: policy, bills of materials, Artifact Hub's file, digests
	$(CARGO) build --locked $(SERVE) --bin sluicegate-host
	@rm -rf $(BUNDLE) && mkdir -p $(BUNDLE)
	@cp policy.wasm $(BUNDLE)/policy.wasm
	@$(BUNDLED) sbom --created $(EPOCH) --package sluicegate-policy --target $(WASM_TARGET) --artifact policy.wasm > $(BUNDLE)/policy.spdx.json
	@for arch in aarch64 x86_64; do for os in apple-darwin unknown-linux-musl; do \
	  $(BUNDLED) sbom --created $(EPOCH) --package sluicegate --target $$arch-$$os > $(BUNDLE)/sluicegate-$$arch-$$os.spdx.json || exit 1; \
	done; done
	@$(BUNDLED) artifacthub --created $(EPOCH) --artifact policy.wasm > $(BUNDLE)/artifacthub-pkg.yml
	@cd $(BUNDLE) && sha256sum * > SHA256SUMS && cat SHA256SUMS

# The day of the file stays: with another one each commit would change it.
artifacthub-pkg.yml: ## describe the policy for Artifact Hub, from policy/metadata.yml, CHANGELOG.md and README.md
	$(CARGO) build --locked $(SERVE) --bin sluicegate-host
	@$(BUNDLED) artifacthub --created $$(date -u -d "$$(sed -n 's/^createdAt: //p' $@)" +%s) > target/$@ && mv target/$@ $@

ARCH ?= $(shell uname -m)
MUSL := $(ARCH)-unknown-linux-musl

static: toolchain ## a static binary for the image and for releases, under dist/ (needs musl-gcc)
	@command -v musl-gcc >/dev/null || { echo "missing: musl-gcc (Debian: musl-tools)"; exit 1; }
	rustup target add $(MUSL)
	$(CARGO) build --locked --release --target $(MUSL) -p sluicegate
	@mkdir -p dist
	cp target/$(MUSL)/release/sluicegate dist/sluicegate-$(MUSL)
	cp dist/sluicegate-$(MUSL) dist/sluicegate-$(if $(filter aarch64,$(ARCH)),arm64,amd64)

CHART := deploy/chart/sluicegate
HELM ?= helm

chart: build ## put the rights and the metadata of the policy into the chart
	target/release/sluicegate rbac > $(CHART)/files/rbac.yaml
	target/release/sluicegate rbac --package-source-status > $(CHART)/files/rbac-package-sources.yaml
	target/release/sluicegate rbac --namespace NAMESPACE > $(CHART)/files/rbac-namespace.yaml
	cp policy/metadata.yml $(CHART)/files/metadata.yml

manifests: ## render the chart into deploy/manifests/, a folder a profile (needs helm 3)
	@command -v $(HELM) >/dev/null || { echo "missing: helm (go install helm.sh/helm/v3/cmd/helm@v3.22.0)"; exit 1; }
	$(HELM) lint --quiet --kube-version 1.33.0 $(CHART)
	@for profile in hold refuse observe; do $(HELM) template sluicegate $(CHART) --kube-version 1.33.0 --namespace sluicegate-system --set profile=$$profile \
	  | grep -v -e '^# Source: ' -e 'app.kubernetes.io/managed-by: Helm$$' > deploy/manifests/$$profile/sluicegate.yaml; done

deny: ## licences, sources and banned crates (needs cargo-deny)
	@command -v cargo-deny >/dev/null || { echo "missing: cargo-deny (cargo install --locked cargo-deny)"; exit 1; }
	$(CARGO) deny check bans licenses sources

clean: ## remove everything that was built
	$(CARGO) clean
	rm -f policy.wasm
