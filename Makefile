# SPDX-License-Identifier: GPL-2.0-only
# The only entry point. `make` alone prints what there is.

FLAVOUR ?= patched
T ?=
OUT ?= build/export
ASSISTED_BY ?= LLM coccinelle
SCRIPTS := scripts
S ?=

# Scripts read these from the environment
export LINUX BUILD CACHE JOBS FORCE KVM SIGNOFF ASSISTED_BY PUBLIC MEM
export QUICK KERNELS WALL PAIRS RUNS PACKETS CACHE_PACKETS BATCH SIZE MODERATION CACHE_MODEL BENCH_CPU

.DEFAULT_GOAL := help
.PHONY: help deps tree kernel demo test shell check refresh export clean
.PHONY: bench bench-report bench-gate bench-save bench-method bench-leave

help:
	@sed -n 's/^#> \?//p' Makefile

#> xdp-bulk: XDP bulk redirect, a patch series against Linux, with what it takes
#> to build, boot, test and send it. README.md has the story.
#>
#>   make demo                 build, boot, and redirect real traffic
#>   make test                 the selftests of this area, in the guest
#>   make test T=GLOB          some: a test, or test/subtest
#>   make shell                a shell in the guest
#>   make kernel               the kernel alone: build/FLAVOUR/bzImage
#>
#>   FLAVOUR=patched           (default) the base with all series
#>   FLAVOUR=stock             the base as it is
#>   FLAVOUR=debug             patched, with KASAN, lockdep, kmemleak, fault injection
#>   FLAVOUR=rt                patched, PREEMPT_RT with lockdep
#>
#>   make bench                what a packet costs: baselines, stock, patched
#>   make bench S=GLOB         some scenarios of bench/scenarios
#>                             QUICK=1 KERNELS="stock patched" WALL=0 PAIRS=11
#>   make bench-gate           is that no worse than the committed results?
#>   make bench-save           copy it there, with plots and docs/results.md
#>   make bench-report         report, plots and docs/results.md from bench/results
#>   make bench-method         the method itself against hand-measured figures
#>   make bench-leave          what deleting a device costs while its frames wait
#>
#>   make tree                 build/linux: branches stock and patched
#>   make refresh              write the commits of build/linux back to series/
#>   make check                everything that needs no guest
#>   make export OUT=DIR       the series as they would be sent
#>                             SIGNOFF="Name <mail>" PUBLIC=1 ASSISTED_BY="LLM tools"
#>   make deps                 install the packages that all this needs
#>   make clean                remove build/
#>
#>   LINUX=PATH                another base: a git tree or a tarball
#>   KVM=0                     do not use KVM even where it works
#>   BUILD=DIR CACHE=DIR       instead of build/ and ~/.cache/xdp-bulk

deps:
	@$(SCRIPTS)/deps.sh

tree: deps
	@$(SCRIPTS)/tree.sh

kernel:
	@$(SCRIPTS)/kernel.sh $(FLAVOUR)

demo:
	@$(SCRIPTS)/demo.sh $(FLAVOUR)

test:
	@$(SCRIPTS)/test.sh "$(FLAVOUR)" '$(T)'

shell:
	@$(SCRIPTS)/kernel.sh $(FLAVOUR) && $(SCRIPTS)/boot.sh $(FLAVOUR) vm/shell 0

bench:
	@$(SCRIPTS)/bench.sh '$(S)'

bench-report:
	@$(SCRIPTS)/bench-report.sh bench/results '$(S)'
	@$(SCRIPTS)/bench-plots.sh bench/results
	@$(SCRIPTS)/bench-docs.sh bench/results

bench-gate:
	@$(SCRIPTS)/bench-gate.sh '$(or $(BUILD),build)/bench/results' bench/results '$(S)'

bench-save:
	@$(SCRIPTS)/bench-save.sh

bench-method:
	@$(SCRIPTS)/bench-method.sh

bench-leave:
	@$(SCRIPTS)/bench-leave.sh

check: deps
	@$(SCRIPTS)/check.sh

refresh:
	@$(SCRIPTS)/refresh.sh

export:
	@$(SCRIPTS)/export.sh '$(OUT)'

clean:
	@$(SCRIPTS)/clean.sh
