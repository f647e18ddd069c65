#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What a step needs and the machine lacks.
#
# usage: setup.sh [--install] build|check|cluster|cross|web|wasm|valgrind|ci
#
# Silent when nothing is missing.  Otherwise it prints what is missing, why, and the one command
# that installs it, and exits with 1.  With --install it runs that command: at once when it is root,
# after a question when there is a terminal, and never on its own with sudo.
set -eu

install=false
if [ "${1:-}" = --install ]; then
	install=true
	shift
fi
step=${1:-build}
sudo=''
[ "$(id -u)" = 0 ] || sudo='sudo '

packages=''
why=''

# need TEST PACKAGE REASON
need() {
	if ! sh -c "$1" >/dev/null 2>&1; then
		packages="$packages $2"
		why="$why
  $2: $3"
	fi
}

header() { # header FILE PACKAGE REASON
	need "test -e /usr/include/$1 || ls /usr/include/*/$1" "$2" "$3"
}

program() { # program NAME PACKAGE REASON
	need "command -v $1" "$2" "$3"
}

for_build() {
	need 'command -v gcc || command -v clang' gcc 'compiles the C code'
	need 'test -e /usr/include/stdio.h' libc6-dev 'headers of the C library'
	need 'command -v as && command -v ar && command -v ld && command -v objcopy' binutils \
		'assembles text input, makes the library'
	program pkg-config pkg-config 'how programs find the library'
	header Zydis/Zydis.h libzydis-dev 'decodes x86 instructions'
	header elfutils/libdw.h libdw-dev 'reads ELF and DWARF'
	header libelf.h libelf-dev 'reads ELF'
	header libiberty/demangle.h libiberty-dev 'names of C++, Rust and D'
	header sqlite3.h libsqlite3-dev 'stores blocks and measurements'
	header zstd.h libzstd-dev 'compresses traces'
	header jansson.h libjansson-dev 'reads stored results'
}

# tact builds without it, and tact serve says what it lacks.
for_serve() {
	header microhttpd.h libmicrohttpd-dev 'HTTP of tact serve'
}

refreshed=false
refresh() {
	$refreshed || $sudo apt-get update -qq >/dev/null 2>&1 || true
	refreshed=true
}

# The newer one, where the distribution has it; lists of a new machine may lack its updates.
llvm() {
	for version in 22 19; do
		[ ! -d /usr/lib/llvm-$version/include/llvm/MCA ] || return 0
	done
	if $install && [ -z "$sudo" ]; then
		refresh
	fi
	package=llvm-19-dev
	if apt-cache show llvm-22-dev 2>/dev/null | grep -q .; then
		package=llvm-22-dev
	fi
	need false $package 'models of LLVM, AArch64 and RISC-V'
}

for_check() {
	for_serve
	header cmocka.h libcmocka-dev 'runs the unit tests'
	program python3 python3 'drives the command-line tests'
	need '/usr/bin/python3 -c "import numpy"' python3-numpy 'tests of the Python package'
	need '/usr/bin/python3 -c "import ensurepip"' python3-venv 'its installation is tried'
	program mypy mypy 'checks the types of the Python package'
	program mandoc mandoc 'reads the manual pages critically'
	program qemu-x86_64 qemu-user 'runs the programs that tests collect blocks of'
	header bzlib.h libbz2-dev 'libdw wants it in programs that are linked statically'
	need 'command -v g++' g++ 'compiles the module for models of LLVM'
	llvm
	for machine in aarch64 riscv64; do
		program $machine-linux-gnu-gcc gcc-$machine-linux-gnu "compiles what is traced for $machine"
	done
	need 'test -e /usr/aarch64-linux-gnu/include/stdio.h' libc6-dev-arm64-cross 'its libraries'
	need 'test -e /usr/riscv64-linux-gnu/include/stdio.h' libc6-dev-riscv64-cross 'its libraries'
	need 'ls /usr/lib/*/libdnnl.so.[23] || ls /usr/lib*/libdnnl.so.[23]' libdnnl-dev \
		'products of matrices, for tact tune'
}

for_cluster() {
	program python3 python3 'drives the tests'
	program munged munge 'Slurm asks it who is who'
	program slurmctld slurmctld "Slurm's controller"
	program slurmd slurmd 'a node of Slurm'
	program sbatch slurm-client 'submits jobs'
	program mpirun openmpi-bin 'several processes of tact tune'
	need 'command -v mpicc' libopenmpi-dev 'compiles the module for them'
}

for_web() {
	for_serve
	program python3 python3 'drives the tests'
	need 'command -v chromium || command -v chromium-browser' chromium 'opens pages'
}

for_valgrind() {
	program valgrind valgrind 'looks for memory that is used wrongly'
	need 'ls /usr/lib/debug/.build-id' libc6-dbg 'without it, valgrind does not start'
}

# The page without a server; sources come from deb-src (wasm/get_sources.sh).
for_wasm() {
	program emcc emscripten 'compiles the library for pages'
	need 'test -e /usr/share/nodejs/acorn || test -e /usr/lib/nodejs/acorn' node-acorn 'makes its script small'
}

for_cross() {
	program python3 python3 'drives the tests'
	program qemu-aarch64 qemu-user 'runs what is compiled for AArch64'
	program aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu 'compiles for AArch64'
	program aarch64-linux-gnu-g++ g++-aarch64-linux-gnu 'compiles the module for models of LLVM'
	program x86_64-linux-gnu-as binutils-x86-64-linux-gnu 'assembles x86 text there'
}

for_ci() {
	program clang clang 'the second compiler'
	program llvm-cov llvm 'tells which lines fuzzing reaches'
	program clang-format clang-format 'the form of C sources'
	program shellcheck shellcheck 'looks at shell scripts'
	program eslint eslint 'looks at the scripts of pages'
	program tidy tidy 'looks at the HTML of pages'
	program setarch util-linux 'fixed addresses, for ThreadSanitizer'
}

case $step in
build) for_build ;;
check) for_build && for_check ;;
cluster) for_build && for_cluster ;;
cross) for_build && for_check && for_cross ;;
web) for_build && for_web ;;
wasm) for_build && for_wasm ;;
valgrind) for_build && for_check && for_valgrind ;;
ci) for_build && for_check && for_cross && for_ci ;;
*)
	echo "setup.sh: '$step' is none of build, check, cluster, cross, web, wasm, valgrind and ci" >&2
	exit 2
	;;
esac

[ -n "$packages" ] || exit 0

echo "Missing on this machine:$why" >&2
if ! sh -c 'command -v apt-get' >/dev/null 2>&1; then
	echo "Please install these with your system's package manager (the names are Debian's)." >&2
	exit 1
fi
line="${sudo}apt-get install --no-install-recommends$packages"
if ! $install; then
	echo "This installs it: $line" >&2
	exit 1
fi
if [ -n "$sudo" ]; then
	if ! [ -t 0 ]; then
		echo "This installs it: $line" >&2
		exit 1
	fi
	printf 'Run "%s" now? [y/N] ' "$line" >&2
	read -r answer
	case $answer in
	y | Y | yes) ;;
	*) exit 1 ;;
	esac
fi
echo "Installing:$packages" >&2
refresh
# shellcheck disable=SC2086
${sudo}env DEBIAN_FRONTEND=noninteractive \
	apt-get install -y -qq --no-install-recommends $packages >/dev/null
