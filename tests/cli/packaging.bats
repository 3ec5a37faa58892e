#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The recipes of packaging/ agree with the Makefile.
# no sanitizer
. "$BATS_TEST_DIRNAME/suite.bash"

top=${BATS_TEST_DIRNAME%/tests/cli}
recipes=$top/packaging

# make_prints VARIABLE [ARGUMENT]...: the words of a variable, one a line.
make_prints()
{
	local variable=$1
	shift
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C "$top" --eval="print: ; @printf '%s\n' \$($variable)" print "$@"
}

@test "the recipes have the version of the Makefile" {
	local version

	version=$(make_prints VERSION)
	[[ $version =~ ^[0-9.]+$ ]]
	run -0 bash -c '. "$1" && echo "$pkgver $source"' - "$recipes/PKGBUILD"
	[ "$output" = "$version spindle-$version.tar.gz" ]
	run -0 sed -n 's/^Version: *//p' "$recipes/spindle.spec"
	[ "$output" = "$version" ]
	run -0 sed -n 's/^  version: \([0-9.]*\)$/\1/p' "$recipes/conda/recipe.yaml"
	[ "$output" = "$version" ]
	grep -qF "spindle-$version.tar.gz" "$recipes/README.md"
}

@test "the spec lists every file that is installed" {
	local file pattern patterns

	sed -n '/^%files/,/^%changelog/p' "$recipes/spindle.spec" | sed -n -e 's|%{_bindir}|/usr/bin|' -e 's|%{_libdir}|/usr/lib64|' \
		-e 's|%{_includedir}|/usr/include|' -e 's|%{_mandir}|/usr/share/man|' -e 's|%{_datadir}|/usr/share|' -e 's|/$|/*|' -e '/^\//p' >files
	mapfile -t patterns <files
	[ ${#patterns[@]} -ge 10 ]
	make_prints INSTALLED PREFIX=/usr LIBDIR=/usr/lib64 >installed
	[ "$(wc -l <installed)" -gt 100 ]
	while read -r file; do
		for pattern in "${patterns[@]}"; do
			# shellcheck disable=SC2053 # a pattern
			[[ $file != $pattern ]] || continue 2
		done
		echo "# not in the spec: $file"
		return 1
	done <installed
}

@test "the recipes depend on every library" {
	local library name

	# shellcheck disable=SC2016 # for another shell
	bash -c '. "$1" && printf "%s\n" "${depends[@]}"' - "$recipes/PKGBUILD" >arch
	sed -n '/^%package -n libspindle$/,/^%desc/s/^Requires: *\([a-z0-9-]*\).*/\1/p' "$recipes/spindle.spec" >fedora
	sed -n '/^  run:/,/^tests/s/^    - //p' "$recipes/conda/recipe.yaml" >conda
	for library in $(make_prints SP_LIBS ZLIB=yes LZMA=yes); do
		case $library in
		-lm) continue ;;
		-lz) name='(lib)?zlib' ;;
		-llzma) name='(xz(-libs)?|liblzma)' ;;
		*) name="(lib)?${library#-l}(-c|-libs)?" ;;
		esac
		for file in arch fedora conda; do
			grep -qxE "$name" "$file" || { echo "# $file lacks $library"; return 1; }
		done
	done
}

@test "the recipes can be parsed" {
	bash -n "$recipes/PKGBUILD"
	! command -v rpmspec || rpmspec -P "$recipes/spindle.spec" >/dev/null
	needs python3
	python3 -c 'import yaml' 2>/dev/null || skip "PyYAML is not installed"
	python3 -c 'import sys, yaml; yaml.safe_load(open(sys.argv[1]))["package"]["name"]' "$recipes/conda/recipe.yaml"
}

@test "make dist fails outside a git checkout, and leaves no tarball" {
	mkdir copy
	cp -r "$top/Makefile" "$top/scripts" copy
	run env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS GIT_DIR="$PWD/none" make -s -C copy dist
	[ "$status" -eq 2 ]
	[[ $output == *"make dist: $PWD/copy is not a git checkout with a commit: make the tarball in one"* ]]
	[ -z "$(ls copy/build/dist)" ]
}
