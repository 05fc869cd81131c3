# A wrapper: the build is meson.build. `make wheel`, `make demo` and `make check` work on a fresh Debian 12; they install
# missing packages (as root or through sudo).
BUILD ?= build
PREFIX ?=
OPTIONS ?=
SUITE ?=
FUZZ_SECONDS ?= 60
SOAK_HOURS ?= 1
DIST ?= dist

.PHONY: all setup demo check check-timed check-world soak bench fuzz format wheel dist site install clean

all: setup
	ninja -C $(BUILD)

# Always reconfigured, which takes a second or two: meson lists the sources then, so new files are found.
setup:
	@command -v meson >/dev/null || \
		{ echo "make: meson is not installed; tools/setup build installs what a build needs" >&2; exit 1; }
	@meson setup $(if $(wildcard $(BUILD)/build.ninja),--reconfigure) $(OPTIONS) $(BUILD) >/dev/null || \
		{ tail -n 20 $(BUILD)/meson-logs/meson-log.txt; exit 1; }

# Record two versions of a program, compare them, draw the difference.
demo:
	@tools/setup demo
	@$(MAKE) --no-print-directory all
	@examples/demo $(BUILD)/fizeau

# The gate, or some suites of it: make check SUITE="unit cli".
check:
	@tools/setup check
	@tests/run $(SUITE)

# Claims about time, proportions and live verdicts: reported; fails only on an impossible result.
check-timed:
	@tools/setup check
	@tests/run --lane timed $(SUITE)

# Tests that need a package registry or another Debian: reported, as above.
check-world:
	@tools/setup world
	@tests/run --lane world $(SUITE)

# Error rates of the statistics, alarms, planted changes and fuzzing, for SOAK_HOURS.
soak:
	@tools/setup check
	@$(MAKE) --no-print-directory all
	@tests/soak $(SOAK_HOURS)

# Look for inputs that break the readers; FUZZ_SECONDS for each target.
fuzz:
	@tools/setup check
	@tests/fuzz/run $(FUZZ_SECONDS)

# Our speed against other tools', as a table.
bench:
	@tools/setup check
	@$(MAKE) --no-print-directory all BUILD=build-bench OPTIONS=-Dbuildtype=release
	@FIZEAU=$(CURDIR)/build-bench/fizeau bench/run

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

# The wheels of this machine alone, into DIST.
wheel:
	@tools/setup wheel
	@packaging/backend.py --wheels $(DIST)

# Everything that is published, into DIST.
dist:
	@tools/setup dist
	@packaging/backend.py $(DIST)

# The documents as pages, into site.
site:
	@tools/setup dist
	@packaging/website.py site

# Into DESTDIR, if set. The installation can be moved, because its parts find each other.
install: setup
	$(if $(PREFIX),meson configure -Dprefix=$(PREFIX) $(BUILD))
	meson install -C $(BUILD)

clean:
	rm -rf build build-* demo dist site
