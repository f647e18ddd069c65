#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Boots Debian's kernel for AArch64 on a machine that QEMU emulates, with tact as all there is, and
# lets it measure there.  Unlike under user-mode QEMU, the kernel is real: namespaces, filters,
# signals and counters are Linux's.  Each instruction takes one cycle on this machine, by its counter
# and by its timer, so that numbers can be checked.
#
# usage: check_system.sh      (after make check-cross; takes some minutes and 500 MB in build-aarch64)
#
# Needs qemu-system-aarch64 and cpio.  The last line is "N passed, M failed, K skipped".
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build-aarch64
place=$build/system

skip() {
	echo "skip: $1"
	echo '0 passed, 0 failed, 1 skipped'
	exit 0
}

for program in qemu-system-aarch64 cpio aarch64-linux-gnu-gcc; do
	command -v $program >/dev/null || skip "there is no $program"
done
[ -e "$build/tests/cross/test_harness_a64" ] || skip "make check-cross builds tact for AArch64"

mkdir -p "$place"
if ! ls "$place"/boot/vmlinuz-* >/dev/null 2>&1; then
	sh "$root/tests/cross/make_sysroot.sh" --kernel aarch64 "$place"
fi

# ---- the system ----

files=$place/files
rm -rf "$files"
mkdir -p "$files/usr/lib/aarch64-linux-gnu" "$files/tact/tests/cross"
cp -a "$build/sysroot/lib" "$files/"
cp -a "$build"/sysroot/usr/lib/aarch64-linux-gnu/*.so* "$files/usr/lib/aarch64-linux-gnu/"
cp "$build/tact" "$build/tact_llvm.so" "$build/tact_llvm_as" "$files/tact/"
cp "$build/tests/cross/test_harness_a64" "$files/tact/tests/cross/"
aarch64-linux-gnu-gcc -static -O1 -o "$files/init" "$root/tests/cross/system_init.c"
cat > "$files/commands" <<'END'
/tact/tact measure -q --tp-only -x 0000018b -x 0000018b0000018b0000018b -x 010000d4
/tact/tact measure -q --tp-only --rung tsc -x 0000018b -x 0000018b0000018b0000018b
/tact/tests/cross/test_harness_a64
/tact/tact doctor --self-test
>/proc/sys/kernel/perf_user_access=1
/tact/tact measure -q --tp-only --rung rdpmc -x 0000018b -x 0000018b0000018b0000018b
END
(cd "$files" && find . | cpio -o -H newc 2>/dev/null | gzip -1) > "$place/initrd"
timeout 900 qemu-system-aarch64 -M virt -cpu neoverse-n1 -m 2000 -icount shift=0 -nic none -nographic \
	-no-reboot -kernel "$(ls "$place"/boot/vmlinuz-*)" -initrd "$place/initrd" \
	-append 'console=ttyAMA0 quiet panic=1 rdinit=/init' < /dev/null > "$place/log" 2>&1 || true
tr -d '\r' < "$place/log" > "$place/text"

# ---- what it said ----

passed=0
failed=0
expect() { # expect NAME: standard input is to be part of the output
	if python3 -c 'import sys; sys.exit(sys.stdin.read() not in open(sys.argv[1]).read())' \
		"$place/text"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL $1; see $place/text"
	fi
}

expect 'perf counts, and a call of the kernel is refused' <<'END'
 -x 010000d4
1.00
3.00
refused
END
expect 'the timer counts' <<'END'
 --rung tsc -x 0000018b -x 0000018b0000018b0000018b
1.00
3.00
### status 0
END
expect 'the harness' <<'END'
[  PASSED  ] 5 test(s).
### status 0
END
expect 'the sandbox is complete' <<'END'
Sandbox: complete
END
expect 'programs read the cycle counter' <<'END'
 --rung rdpmc -x 0000018b -x 0000018b0000018b0000018b
1.00
3.00
### status 0
END
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
