#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Packs fuzzing for a machine that has neither compilers nor our libraries.
#
#   pack.sh DIRECTORY PROGRAM...
#
# Each PROGRAM is tests/fuzz/all of a build.  Then DIRECTORY/run CORES MINUTES [WORK [TARGET...]] runs all
# targets there, on as many cores; WORK (default: DIRECTORY/work) gets log, summary and findings.  The
# targets that need tact_llvm.so are left out: LLVM is larger than all the rest.
set -eu
[ $# -ge 2 ] || { sed -n '3,11s/^# \{0,1\}//p' "$0"; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
dir=$1
shift
rm -rf "$dir"
mkdir -p "$dir/lib" "$dir/corpus"
cp -r "$here/corpus/." "$dir/corpus"
rm -rf "$dir/corpus/llvm" "$dir/corpus/forms" "$dir/corpus/encoding"
python3 "$here/seeds.py" "$dir/corpus/command" > /dev/null
cp "$here/run_all.sh" "$dir"
names=''
for program; do
	name=$(basename "$(dirname "$(dirname "$(dirname "$program")")")")
	names="$names $name"
	mkdir -p "$dir/$name"
	strip --strip-debug -o "$dir/$name/program" "$program"
	ldd "$program" | awk '$3 ~ /^\// {print $3} $1 ~ /^\// {print $1}' | while read -r library; do
		cp -L "$library" "$dir/lib"
	done
	cat > "$dir/$name/all" <<'EOF'
#!/bin/sh
d=$(cd "$(dirname "$0")" && pwd)
exec "$d/../lib/ld-linux-x86-64.so.2" --library-path "$d/../lib" "$d/program" "$@"
EOF
	chmod +x "$dir/$name/all"
done
cat > "$dir/run" <<EOF
#!/bin/sh
# run CORES MINUTES [WORK [TARGET...]]
d=\$(cd "\$(dirname "\$0")" && pwd)
cores=\${1-\$(nproc)} minutes=\${2-10} work=\${3-\$d/work}
[ \$# -le 3 ] && set -- || shift 3
programs=''
for p in$names; do programs="\$programs \$d/\$p/all"; done
exec sh "\$d/run_all.sh" "\$d/corpus" "\$work" "\$cores" "\$minutes" \$programs -- "\$@"
EOF
chmod +x "$dir/run"
du -sh "$dir"
