# SPDX-License-Identifier: GPL-2.0-only
# The only entry point. `make` alone prints what there is.

FLAVOUR ?= patched
T ?=
OUT ?= build/export
ASSISTED_BY ?= LLM coccinelle
S := scripts

# Scripts read these from the environment
export LINUX BUILD CACHE JOBS FORCE KVM SIGNOFF ASSISTED_BY PUBLIC MEM

.DEFAULT_GOAL := help
.PHONY: help deps tree kernel demo test shell check refresh export clean

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
	@$(S)/deps.sh

tree: deps
	@$(S)/tree.sh

kernel:
	@$(S)/kernel.sh $(FLAVOUR)

demo:
	@$(S)/demo.sh $(FLAVOUR)

test:
	@$(S)/test.sh "$(FLAVOUR)" '$(T)'

shell:
	@$(S)/kernel.sh $(FLAVOUR) && $(S)/boot.sh $(FLAVOUR) vm/shell 0

check: deps
	@$(S)/check.sh

refresh:
	@$(S)/refresh.sh

export:
	@$(S)/export.sh '$(OUT)'

clean:
	@$(S)/clean.sh
