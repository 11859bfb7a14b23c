# A thin front on CMake: `make help` lists what it does. On a fresh Debian 12 machine `make demo`, `make docs` and
# `make check` install what they need first.
BUILD  ?= build
PREFIX ?= /usr/local
CMAKE_FLAGS ?=

.DEFAULT_GOAL := build
.PHONY: help build demo demo-homogenize demo-live docs check coverage test test-all build-tests install format clean

help: ## list these targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1|\2/p' $(MAKEFILE_LIST) | \
	    while IFS='|' read -r name what; do printf '  make %-15s  %s\n' "$$name" "$$what"; done

build: ## compile the library, the command and the examples into build/
	cmake -S . -B $(BUILD) -DWEFT_TESTS=OFF $(CMAKE_FLAGS)
	cmake --build $(BUILD) --parallel $$(nproc)

demo: ## install what is missing, build, transform a head volume on 4 ranks, draw out/demo.png
	scripts/install-dependencies demo
	$(MAKE) build
	scripts/demo $(BUILD)

demo-homogenize: ## install what is missing, build, compute the stiffness of glass spheres in epoxy on 2 ranks
	scripts/install-dependencies demo-homogenize
	$(MAKE) build
	scripts/demo-homogenize $(BUILD)

demo-live: ## install what is missing, build, show a picture and its spectrum in the browser, with filters, until Ctrl-C
	scripts/install-dependencies demo-live
	$(MAKE) build
	$(BUILD)/tools/weft live data/camera.png

docs: ## install what is missing, build the documentation site: build/docs/html/index.html
	scripts/install-dependencies docs
	docs/site/build $(BUILD)/docs

check: ## install what is missing, then every compiler, MPI, sanitizer and fuzzer that CI runs
	scripts/install-dependencies check
	scripts/check

coverage: ## install what is missing, then which lines of src/ the tests run: build/coverage/index.html
	scripts/install-dependencies coverage
	scripts/coverage

# Kernels of one instruction set, and little optimization of the rest, compile in half of the time.
test: QUICK = -DCMAKE_C_FLAGS_RELEASE=-O1 $(if $(filter x86_64,$(shell uname -m)),-DWEFT_SIMD_SETS=avx2)
test-all: QUICK = -UCMAKE_C_FLAGS_RELEASE -UWEFT_SIMD_SETS

test: build-tests ## the quick turn while developing: one build, and the tests that find most in a few minutes
	scripts/quick-tests $(BUILD)/test

test-all: build-tests ## one build with GCC and the default MPI, all its tests (half an hour)
	cd $(BUILD)/test && . ../../scripts/mpi-environment && ctest --output-on-failure

build-tests:
	scripts/install-dependencies test
	cmake -S . -B $(BUILD)/test -DWEFT_TESTS=ON $(QUICK) $(CMAKE_FLAGS)
	cmake --build $(BUILD)/test --parallel $$(nproc)

install: build ## install into PREFIX (default /usr/local): make install PREFIX=$HOME/weft
	cmake --install $(BUILD) --prefix $(PREFIX)

format: ## clang-format every tracked C file
	git ls-files -z '*.c' '*.h' | xargs -0 clang-format-14 -i

clean: ## remove build/ and out/
	rm -rf $(BUILD) out
