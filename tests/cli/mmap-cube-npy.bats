#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Arrays of NumPy become cubes, and boxes of cubes become arrays.
. "$BATS_TEST_DIRNAME/suite.bash"

# npy VERSION DESCR ORDER SHAPE [DATA]: a .npy file; its data is that of a file, or six numbers.
npy()
{
	local text="{'descr': $2, 'fortran_order': $3, 'shape': $4, }" size
	printf -v size '\\x%02x\\x00' $((${#text} % 256))
	printf '\x93NUMPY'
	printf '%b' "\\x0$1\\0$size"
	[ "$1" = 1 ] || printf '\0\0'
	printf '%s' "$text"
	if [ $# -eq 5 ]; then cat "$5"; else printf '\0\0\200?\0\0\0@\0\0@@\0\0\200@\0\0\240@\0\0\300@'; fi
}

elements() { "$cube" export c --format=csv | tr '\n' ' '; }

@test "create --from takes sizes, type and elements from each version of .npy files" {
	for version in 1 2 3; do
		npy $version "'<f4'" True '(3, 2)' > a.npy
		"$cube" create c --from=a.npy --mapping=naive --overwrite
		[ "$(elements)" = '0,0,1 1,0,2 2,0,3 0,1,4 1,1,5 2,1,6 ' ]
		npy $version "'<f4'" False '(3, 2)' > a.npy
		"$cube" create c --from a.npy --mapping=hilbert --overwrite
		[ "$(elements)" = '0,0,1 1,0,3 2,0,5 0,1,2 1,1,4 2,1,6 ' ]
	done
	[[ $("$cube" info c) == *"dimensions  3 x 2"*"f32, 4 bytes"*"state       complete"* ]]
	# Big-endian numbers, a size of a name, and opaque elements.
	printf '\1\2\3\4\5\6' > data
	npy 1 "'>u2'" False '(3,)' data > a.npy
	"$cube" create c --from=a.npy --mapping=naive --overwrite
	[ "$(elements)" = '0,258 1,772 2,1286 ' ]
	npy 1 "'|V3'" False '(1, 2)' data > a.npy
	"$cube" create c --from=a.npy --mapping=naive --overwrite --volumes=2
	[ "$(elements)" = '0,0,010203 0,1,040506 ' ]
	"$cube" check c
}

@test "create --from refuses unsuitable files before it makes a cube" {
	for type in "'|b1'" "'<f2'" "'<c8'" "'<U2'" "'|O'" "'<M8[s]'" "'|V65537'"; do
		npy 1 "$type" True '(3, 2)' > a.npy
		fails_with "mmap-cube: a.npy: the dtype $type is not supported: supported are i1, i2, i4, i8, u1, u2, u4, u8, f4, f8 and V of at most 65536 bytes; convert the array by astype()" \
			"$cube" create c --from=a.npy
	done
	npy 1 "[('a', '<i4'), ('b', '<f8')]" True '(3, 2)' > a.npy
	run -2 "$cube" create c --from=a.npy
	[[ $output == *"the dtype of several fields is not supported"* ]]
	npy 1 "'<f4'" True '()' > a.npy
	fails_with "mmap-cube: a.npy: the array has 0 dimensions: a cube has 1 to 16" "$cube" create c --from=a.npy
	npy 1 "'<f4'" True '(0, 2)' > a.npy
	fails_with "mmap-cube: a.npy: the array has no elements: a cube has at least one" "$cube" create c --from=a.npy
	npy 1 "'<f4'" True '(4, 2)' > a.npy
	run -2 "$cube" create c --from=a.npy
	[[ $output == *"the input ends before the last element"* ]]
	npy 1 "'<f4'" True '(4611686018427387904, 4)' > a.npy
	run -2 "$cube" create c --from=a.npy
	[[ $output == *"the input ends before the last element"* ]]
	npy 1 "'<f4'" True '(5,)' > a.npy
	run -2 "$cube" create c --from=a.npy
	[[ $output == *"the input goes on after the last element"* ]]
	head -c 40 a.npy > cut.npy
	: > empty.npy
	for file in cut.npy empty.npy; do
		fails_with "mmap-cube: $file: is not a .npy file" "$cube" create c --from=$file
	done
	npy 1 "'<f4'" True '(3, 2)' > a.npy
	run -2 bash -c "cat a.npy | '$cube' create c --from=/dev/stdin"
	[[ $output == *"regular files only"* ]]
	run -2 "$cube" create c --from=-
	[[ $output == *"--from needs a regular file"* ]]
	for option in --dims=3x2 --dtype=f32 --points --no-data; do
		fails_with "mmap-cube: ${option%%=*} and --from are incompatible" "$cube" create c --from=a.npy $option
	done
	cp a.npy before
	run -2 "$cube" create a.npy --from=a.npy --overwrite
	cmp a.npy before
	[ ! -e c ]
}

@test "create --from that is killed at any call leaves no cube that looks whole" {
	shim=$(realpath "$build/tests/shim/failcall.so") || skip "no shim in this build"
	head -c 48000 /dev/urandom > data
	npy 1 "'<u4'" True '(30, 40, 10)' data > a.npy
	for ((call = 1; call < 99; call++)); do
		rm -f c
		FAILCALL_KILL=1 FAILCALL_AT=$call FAILCALL_CALLS='pwrite write fsync' FAILCALL_FD_MIN=3 LD_PRELOAD=$shim \
			"$cube" create c --from=a.npy --mapping=naive && break
		if "$cube" export c > out; then
			cmp out data
		else
			run -2 "$cube" put c 1,1,1 1
			run "$cube" info c
			[[ $output != *"state       complete"* ]]
			refused=$call
		fi
	done
	[ "$refused" -gt 3 ]
	"$cube" export c | cmp - data
	rm c
	run -2 env FAILCALL_AT=$((refused - 2)) FAILCALL_CALLS='pwrite write fsync' FAILCALL_FD_MIN=3 LD_PRELOAD=$shim \
		"$cube" create c --from=a.npy --mapping=naive
	[[ $output == *"c: is not complete: load a.npy again"* ]]
	run -2 "$cube" export c
	"$cube" load c a.npy
	"$cube" export c | cmp - data
}

# with_numpy: runs Python that reads the program from standard input, in the test's folder.
with_numpy()
{
	local python

	needs python3
	python=$(numpy_python)
	"$python" -c 'import numpy' 2>/dev/null || skip "there is no NumPy"
	"$python" - "$cube"
}

@test "arrays of random types, shapes and orders come back as they were" {
	with_numpy <<'END'
import subprocess, sys
import numpy as np

rng = np.random.default_rng(11)
for dtype in "i1", "u1", "<i2", ">i2", "<u4", ">u4", "<i8", ">u8", "<f4", ">f4", "<f8", ">f8", "V5":
    for version in (1, 0), (2, 0), (3, 0):
        shape = tuple(rng.integers(1, 12, rng.integers(1, 5)))
        data = rng.bytes(int(np.prod(shape)) * np.dtype(dtype).itemsize)
        a = np.asarray(np.frombuffer(data, dtype).reshape(shape), order="CF"[rng.integers(2)])
        with open("a.npy", "wb") as f:
            np.lib.format.write_array(f, a, version=version)
        mapping = ("naive", "hilbert", "zorder")[version[0] - 1]
        subprocess.run([sys.argv[1], "create", "c", "--overwrite", "--from=a.npy", "--mapping", mapping], check=True)
        subprocess.run([sys.argv[1], "export", "c", "-o", "o.npy"], check=True)
        b = np.load("o.npy")
        assert b.shape == a.shape, (dtype, version)
        assert b.tobytes() == a.astype(a.dtype.newbyteorder("<")).tobytes(), (dtype, version)
END
}

# cube_of N: a cube of 5 x 4 x 3 numbers, element x,y,z is x + 10 y + 100 z.
cube_of()
{
	for z in 0 1 2; do for y in 0 1 2 3; do for x in 0 1 2 3 4; do
		echo $x,$y,$z,$((x + 10 * y + 100 * z))
	done; done; done > in.csv
	"$cube" create c --dims=5x4x3 --dtype=i16 --mapping=naive
	"$cube" load c in.csv
}

@test "range --box takes slices as NumPy does" {
	cube_of
	while read -r box lo hi; do
		"$cube" range c "--box=$box" --format=csv > got
		"$cube" range c --lo=$lo --hi=$hi --format=csv | cmp - got
	done <<- END
		0:2,:,1 0,0,1 2,4,2
		:,:,: 0,0,0 5,4,3
		-2:,:-1,-1 3,0,2 5,3,3
		1:99,-99:2 1,0,0 5,2,3
		3 3,0,0 4,4,3
		::,0:4:1,2:3: 0,0,2 5,4,3
		-5,-4,-3 0,0,0 1,1,1
	END
	[ "$("$cube" range c --box=1,2,:2 --format=csv | tr '\n' ' ')" = '1,2,0,21 1,2,1,121 ' ]
	"$cube" range c --box=0:2,:,1 -o o.npy
	[[ $(head -c 128 o.npy | tr -d '\0') == *"'shape': (2, 4,), }"* ]]
	"$cube" range c --box=1,2,0 -o o.npy
	[[ $(head -c 128 o.npy | tr -d '\0') == *"'shape': (), }"* ]]
}

@test "range --box refuses other slices" {
	cube_of
	for box in '' ',' a '1,' 0:1,b 1.5 0:1:x 1:2:1:4 -- :,,: '[0:1]' 99999999999999999999; do
		fails_with "mmap-cube: invalid --box argument '$box': valid is an item such as 0:10, : or 5 for each dimension" \
			"$cube" range c "--box=$box"
	done
	for box in 0:4:2 ::-1 ::-4 0:1,::3; do
		fails_with "mmap-cube: invalid --box argument '$box': the step must be 1; --lo, --hi and --stride select every Nth element" \
			"$cube" range c "--box=$box"
	done
	for box in 2:2 3:1 9:12 :0 -1:-2; do
		fails_with "mmap-cube: invalid --box argument '$box': no element of dimension 0 is selected, which has 5" \
			"$cube" range c "--box=$box"
	done
	for box in :,4 :,-5; do
		fails_with "mmap-cube: invalid --box argument '$box': an index of dimension 1 is not within its 4 elements" \
			"$cube" range c "--box=$box"
	done
	fails_with "mmap-cube: invalid --box argument ':,:,:,:': the cube has 3 dimensions" "$cube" range c --box=:,:,:,:
	for option in --lo=0,0,0 --hi=2,2,2 --stride=1,1,1; do
		fails_with "mmap-cube: --box and --lo, --hi or --stride are incompatible" "$cube" range c --box=1 $option
	done
}

@test "random slices are those of NumPy" {
	with_numpy <<'END'
import subprocess, sys
import numpy as np

rng = np.random.default_rng(12)


def item(n):
    if rng.random() < 0.3:
        return int(rng.integers(-n, n))
    a, b = (None if rng.random() < 0.2 else int(rng.integers(-2 * n, 2 * n)) for _ in range(2))
    return slice(a, b)


def text(i):
    return str(i) if isinstance(i, int) else ":".join("" if x is None else str(x) for x in (i.start, i.stop))


empty = 0
for n in range(60):
    if n % 12 == 0:
        a = rng.integers(0, 1 << 30, tuple(rng.integers(1, 9, rng.integers(1, 5))), dtype="u4")
        np.save("a.npy", a)
        subprocess.run([sys.argv[1], "create", "c", "--overwrite", "--from=a.npy", "--mapping=zorder"], check=True)
    items = tuple(item(s) for s in a.shape)[: int(rng.integers(1, a.ndim + 1))]
    run = subprocess.run([sys.argv[1], "range", "c", "--box=" + ",".join(map(text, items)), "--format=npy", "-o", "o"])
    if a[items].size:
        b = np.load("o")
        assert run.returncode == 0 and b.shape == a[items].shape and (b == a[items]).all(), items
    else:
        empty += 1
        assert run.returncode == 2, items
assert 0 < empty < 50
END
}
