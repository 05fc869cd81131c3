# Thin: the real build is meson.build. `make demo` and `make check` work on a fresh Debian 12.
BUILD ?= build

.PHONY: all demo check bench fuzz format clean
all: $(BUILD)/build.ninja
	ninja -C $(BUILD)

$(BUILD)/build.ninja: meson.build tests/meson.build
	meson setup $(if $(wildcard $@),--reconfigure) $(BUILD)

clean:
	rm -rf build build-* demo
