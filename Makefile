# Thin: the real build is meson.build. `make demo` and `make check` are all a fresh Debian 12
# needs to be told; both install what is missing (as root or through sudo).
BUILD ?= build
PREFIX ?= /usr/local
OPTIONS ?=
SUITE ?=
FUZZ_SECONDS ?= 60

.PHONY: all setup demo check bench fuzz format install clean

all: setup
	ninja -C $(BUILD)

# Always reconfigured, a second or two: meson lists the sources then, so new files are seen.
setup:
	@meson setup $(if $(wildcard $(BUILD)/build.ninja),--reconfigure) $(OPTIONS) $(BUILD) >/dev/null || \
		{ tail -n 20 $(BUILD)/meson-logs/meson-log.txt; exit 1; }

# Record two versions of a program, compare them, draw the difference.
demo:
	@tools/setup demo
	@$(MAKE) --no-print-directory all
	@examples/demo $(BUILD)/fizeau

# Every test, or `make check SUITE="unit cli"`; tests/run lists the suites.
check:
	@tools/setup check
	@tests/run $(SUITE)

# Look for inputs that break the readers; FUZZ_SECONDS for each target.
fuzz:
	@tools/setup check
	@tests/fuzz/run $(FUZZ_SECONDS)

# Our speed against the peers', as a table.
bench:
	@tools/setup check
	@$(MAKE) --no-print-directory all BUILD=build-bench OPTIONS=-Dbuildtype=release
	@FIZEAU=$(CURDIR)/build-bench/fizeau bench/run

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

install: setup
	meson install -C $(BUILD)

clean:
	rm -rf build build-* demo
