# A short front for Meson. Every target installs the Debian packages it needs and lacks.
#   make run     build and show what the program does     make test      everything that needs only Debian packages
#   make         build build/weft                         make interop   against the real programs and libraries
PREFIX ?= /usr/local
WERROR ?= true
FUZZ_SECONDS ?= 30

.PHONY: all run test interop interop-full soak bench fuzz coverage format check-format install clean
all: build/weft

# A build directory, made once; ninja keeps it up to date afterwards. $(call configure,DIRECTORY,OPTIONS)
define configure
	@tools/packages build
	@test -f $(1)/build.ninja || { rm -rf $(1); meson setup $(1) -Dwerror=$(WERROR) $(2) >$(1).log 2>&1; } || \
		{ cat $(1).log; exit 1; }
	@rm -f $(1).log
endef

comma := ,
asan := -Dtests=true -Db_sanitize=address$(comma)undefined -Db_lundef=false
tsan := -Dtests=true -Db_sanitize=thread -Db_lundef=false

.PHONY: build/weft
build/weft:
	$(call configure,build,)
	@ninja -C build --quiet

run: build/weft
	@tools/tour

test: build/weft
	$(call configure,build-asan,$(asan))
	@ninja -C build-asan --quiet
	@meson test -C build-asan --no-rebuild --print-errorlogs --timeout-multiplier 3
	@WEFT=$(CURDIR)/build/weft WEFT_BOUNDED=1 tests/e2e/convert >build/e2e.log || { cat build/e2e.log; exit 1; }
	@WEFT=$(CURDIR)/build/weft WEFT_BOUNDED=1 tests/e2e/bounds >build/e2e.log || { cat build/e2e.log; exit 1; }
	@BUILD=$(CURDIR)/build TESTS=$(CURDIR)/build-asan tests/attack/run >build/e2e.log || { cat build/e2e.log; exit 1; }
	@WEFT=$(CURDIR)/build/weft tests/attack/registry/run >build/e2e.log || { cat build/e2e.log; exit 1; }
	@BUILD=$(CURDIR)/build tests/e2e/function-init >build/e2e.log || { cat build/e2e.log; exit 1; }
	@WEFT=$(CURDIR)/build/weft tests/e2e/storm >build/e2e.log || { cat build/e2e.log; exit 1; }
	@ninja -C build --quiet function-version
	@WEFT=$(CURDIR)/build-asan/weft FUNCTION_PROGRAM=$(CURDIR)/build/function-version tests/e2e/function-revisions >build/e2e.log || { cat build/e2e.log; exit 1; }
	@WEFT=$(CURDIR)/build/weft FUNCTION_PROGRAM=$(CURDIR)/build/function-version tests/e2e/function-storm >build/e2e.log || { cat build/e2e.log; exit 1; }
	@WEFT=$(CURDIR)/build/weft tests/e2e/hang >build/e2e.log || { cat build/e2e.log; exit 1; }
	$(call configure,build-tsan,$(tsan))
	@ninja -C build --quiet tests/sim/plane-sim tests/sim/first-sim
	@# A control plane that is idle for minutes leaves the cores to simulations, which use one, and to the compiler.
	@WEFT=$(CURDIR)/build/weft tests/e2e/idle >build/idle.log 2>&1 & idle=$$!; failed=0; \
		{ WEFT_SCHEDULES=800 build/tests/sim/plane-sim && WEFT_SCHEDULES=200 build/tests/sim/first-sim; } >build/sim.log 2>&1 & sim=$$!; \
		ninja -C build-tsan --quiet thread-tests || failed=1; \
		wait $$sim || { cat build/sim.log; failed=1; }; \
		wait $$idle || { cat build/idle.log; failed=1; }; exit $$failed
	@# Arenas in pieces are for AddressSanitizer; make soak runs them here too.
	@meson test -C build-tsan --no-rebuild --print-errorlogs --timeout-multiplier 3 --suite threads --no-suite pieces

# The differential suites; interop-full runs ten times the cases from a new seed, and those that need a real Kubernetes API too.
interop: build/weft
	@tools/packages interop
	$(call configure,build-asan,$(asan))
	@ninja -C build-asan --quiet
	@tests/interop/run
	@tests/interop/cluster
	@tests/interop/own-kinds
	@tests/interop/openapi
	@tests/interop/tables
	@tests/interop/discovery
	@tests/interop/access/run
	@tests/interop/auth
	@tests/interop/builtin-table
	@tests/interop/builtin
	@tests/interop/api/unusual
	@tests/interop/api/requests
	@tests/interop/api/kubectl
	@tests/interop/api/clients/run
	@tests/interop/api/history/run
	@tests/interop/api/hostile/run
	@tests/interop/net
	@tests/interop/functions/run
	@tests/interop/render/run
	@tests/interop/cli/run
	@tests/interop/trace/run
	@tests/interop/repositories/run
	@tests/interop/compat/run
	@tests/interop/convert/run
	@tests/interop/builtins/run
	@tests/interop/claims/run
	@tests/interop/composition/run ci
	@tests/interop/usages/run
	@tests/interop/first-design/run
	@tests/interop/gotemplate/run
	@tests/interop/packaged-types
	@tests/interop/packages/run ci
	@tests/interop/oci/run
	@tests/interop/xpkg/run
	@tests/interop/install/run
	@tests/interop/runtime/run
	@tests/interop/provider/run

interop-full:
	@tools/packages interop
	$(call configure,build-asan,$(asan))
	@ninja -C build-asan --quiet
	@export INTEROP_SEED=$$(date +%s) INTEROP_FACTOR=10; failed=0; \
		for suite in run cluster own-kinds access/run builtin gotemplate/run builtins/run signature/run; do tests/interop/$$suite || failed=1; done; tests/interop/composition/run full || failed=1; tests/interop/packages/run full || failed=1; exit $$failed

# Hours of what make test, interop and fuzz do in minutes.
soak: interop-full
	$(call configure,build-tsan,$(tsan))
	@ninja -C build-tsan --quiet thread-tests
	@meson test -C build-tsan --no-rebuild --print-errorlogs --suite threads --repeat 50
	@WEFT_OPERATIONS=2000000 build-tsan/tests/unit/test-store-stress
	@WEFT_SCHEDULES=20000 WEFT_SEED=$$(date +%s) build-asan/tests/unit/test-store-sim
	@WEFT_SCHEDULES=2000 WEFT_SEED=$$(date +%s) build-asan/tests/unit/test-plane-sim
	@WEFT_SCHEDULES=2000 WEFT_SEED=$$(date +%s) build-asan/tests/unit/test-plane-first
	@ninja -C build --quiet tests/sim/plane-sim tests/sim/first-sim
	@WEFT_SCHEDULES=10000 WEFT_SEED=$$(date +%s) build/tests/sim/plane-sim
	@WEFT_SCHEDULES=10000 WEFT_SEED=$$(date +%s) build/tests/sim/first-sim
	@WEFT_TEST_CALLS=100000 meson test -C build-asan --no-rebuild --print-errorlogs --timeout-multiplier 10 grpc-failures
	@WEFT=$(CURDIR)/build/weft STORM_KILLS=1000 STORM_SEED=$$(date +%s) tests/e2e/storm
	@ninja -C build --quiet function-version
	@for gate in true false; do WEFT=$(CURDIR)/build/weft FUNCTION_PROGRAM=$(CURDIR)/build/function-version STORM_GATE=$$gate STORM_XRS=200 STORM_KILLS=50 \
		STORM_SEED=$$(date +%s) tests/e2e/function-storm || exit 1; done
	@WEFT=$(CURDIR)/build/weft IDLE_SECONDS=600 IDLE_RESTORE_SECONDS=1 tests/e2e/idle
	@BENCH_XRS=50000 bench/bench-scale build
	@$(MAKE) fuzz FUZZ_SECONDS=600

bench:
	@tools/packages build bench
	$(call configure,build-bench,-Dbench=true)
	@ninja -C build-bench --quiet
	@bench/run build-bench

fuzz:
	@tools/packages build fuzz
	$(call configure,build-fuzz,-Dfuzz=true -Db_sanitize=address$(comma)undefined -Db_lundef=false --native-file tools/clang.ini)
	@ninja -C build-fuzz --quiet
	@fuzz/run build-fuzz $(FUZZ_SECONDS)

coverage:
	@tools/packages build coverage
	$(call configure,build-coverage,-Dtests=true -Db_coverage=true)
	@ninja -C build-coverage --quiet
	@meson test -C build-coverage --no-rebuild --quiet
	@tools/coverage build-coverage

format:
	@tools/packages format
	@git ls-files -co --exclude-standard '*.c' '*.h' '*.cc' | xargs clang-format-14 -i

check-format:
	@tools/packages format
	@git ls-files '*.c' '*.h' '*.cc' | xargs clang-format-14 --dry-run -Werror

install: build/weft
	@meson configure build -Dprefix=$(PREFIX)
	@meson install -C build

clean:
	rm -rf build build-*
