#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls every public function with NULL in each of its arguments, and with results of other sizes.

usage: misuse.py [--build DIR] [--cc CC] [--list]

The calls are generated from the headers, so that a new function cannot be forgotten.  Each one runs in a child
process of its own.  What is checked:
- nothing crashes or hangs, whatever is NULL;
- a function that returns int or long, and gets NULL in all its arguments, fails;
- what a function should have made is NULL after it failed;
- a result whose size says that it is short, exact or long is never written past its end, keeps its size, and is not
  written at all if its size is 0.
--list prints the return value of each call.  The last line is "N passed, M failed, K skipped".
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import interface  # noqa: E402

# Functions that take nothing but a pointer that may be NULL, or that ask for nothing.
MAY_SUCCEED_WITH_NULL = {
    'tact_host_cores',  # "how many are there?"
    'tact_model_next', 'tact_arch_next', 'tact_isa_next',
    'tact_arch_llvm_check',  # "is it there?"
}

# Arguments that are not pointers, by name: what makes the call a sensible one.
NUMBERS = {'size': '3', 'code_size': '3', 'n': '1', 'capacity': '1', 'iterations': '2', 'fd': '-1', 'form': '1',
           'weight': '1', 'cycles': '2', 'n_models': '1', 'n_bytes': '3', 'bytes_size': '3', 'most': '1'}

VALUES = {
    'const char *': 'text_for("%(name)s")',
    'const uint8_t *': 'some_code',
    'uint8_t *': '(uint8_t *)room',
    'const uint8_t **': '(const uint8_t **)room',
    'const void *': '"4801d8"',
    'void *': 'room',
    'char *': '(char *)room',
    'char **': '(char **)room',
    'char ***': '(char ***)room',
    'const char **': '(const char **)room',
    'const char *const *': 'names',
    'char *const *': 'words',
    'struct tact_mix *const *': 'some_mixes()',
    'const struct tact_mix *const *': '(const struct tact_mix *const *)some_mixes()',
    'struct tact_diag *': '&diag',
}

PROLOGUE = r'''
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "fixtures.h"

/* Where results go: their size, what they may fill, and what must stay as it is. */
enum { ROOM = 1 << 15, GUARD = 0xa5 };
static unsigned char room[ROOM] __attribute__((aligned(16)));
static unsigned char result[ROOM] __attribute__((aligned(16)));
static size_t result_size;
static void *made = (void *)1;
static struct tact_diag diag;
static const char *const names[] = {"facile", "facile"};
static char *const words[] = {"true", NULL};

/* More than any number that is tried. */
static struct tact_mix *const *some_mixes(void)
{
	static struct tact_mix *mixes[64];

	for (int i = 0; i < 64; i++)
		mixes[i] = the.mix;
	return mixes;
}

static const char *text_for(const char *name)
{
	if (!strcmp(name, "path"))
		return the.file;
	if (!strcmp(name, "name") || !strcmp(name, "model") || !strcmp(name, "list"))
		return "facile";
	return "x";
}

static void *sized(void *what, size_t size)
{
	memset(what, 0, ROOM);
	memcpy(what, &size, sizeof(size));
	return what;
}

static void *result_of(size_t size)
{
	memset(result, GUARD, ROOM);
	memcpy(result, &size, sizeof(size));
	result_size = size;
	return result;
}

/* Whether a result was written past its size, or its size was. */
static int is_spoilt(void)
{
	size_t size;

	memcpy(&size, result, sizeof(size));
	if (size != result_size)
		return 1;
	for (size_t i = size < 8 ? 8 : size; i < ROOM; i++)
		if (result[i] != GUARD)
			return 1;
	return 0;
}
'''

EPILOGUE = r'''
enum { CRASHED = 1000, HUNG = 1001, SPOILT = 1002, KEPT = 1003 };

/* Runs one call in a child; the result comes through shared memory of a file. */
static long run(unsigned function, int null_at, long size)
{
	int fds[2], status;
	long value = CRASHED;
	pid_t pid;

	if (pipe(fds))
		exit(2);
	pid = fork();
	if (!pid) {
		int spoilt;

		close(fds[0]);
		signal(SIGPIPE, SIG_IGN);
		alarm(10);
		value = functions[function].call(null_at, size);
		spoilt = functions[function].has_result && result_size && is_spoilt();
		if (spoilt)
			value = SPOILT;
		else if (value < 0 && functions[function].makes && made && null_at != -1 &&
			 null_at != functions[function].makes - 1)
			value = KEPT;
		if (write(fds[1], &value, sizeof(value)) != sizeof(value))
			_exit(3);
		_exit(0);
	}
	close(fds[1]);
	if (read(fds[0], &value, sizeof(value)) != sizeof(value))
		value = CRASHED;
	close(fds[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		value = HUNG;
	else if (!WIFEXITED(status) && value != SPOILT)
		value = CRASHED;
	return value;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	fixtures_make(argv[1]);
	for (unsigned f = 0; f < sizeof(functions) / sizeof(functions[0]); f++) {
		const struct function *fn = &functions[f];

		for (int k = -2; k < (int)fn->n; k++) {
			if (k >= 0 && !fn->pointer[k])
				continue;
			printf("%s %d %ld\n", fn->name, k, run(f, k, -1));
		}
		if (fn->has_result) {
			static const int sizes[] = {0, 8, 16, -2, -3};

			for (unsigned s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
				printf("%s size%d %ld\n", fn->name, sizes[s], run(f, -2, sizes[s]));
		}
		fflush(stdout);
	}
	return 0;
}
'''


def argument(p, structs, sized, function):
    """C expression for an argument of a function that is not NULL."""
    if p.is_function:
        return None
    handle = re.fullmatch(r'(?:const )?struct tact_(\w+) \*', p.type)
    maker = re.fullmatch(r'struct tact_(\w+) \*\*', p.type)
    if p.type == 'const char *' and function.name.endswith(('_save', '_write')):
        return '"/dev/null"'  # the file that others read stays as it is
    if p.type in VALUES:
        return VALUES[p.type] % {'name': p.name}
    if maker:
        return '(struct tact_%s **)&made' % maker.group(1)
    if handle:
        name = 'tact_' + handle.group(1)
        if name not in structs:
            return 'the.derived' if p.type == 'struct tact_arch *' else 'the.' + handle.group(1)
        if name in sized and not p.type.startswith('const'):
            return 'result_of(size == -1 || size == -2 ? sizeof(struct %s) : size == -3 ? sizeof(struct %s) + 64 : ' \
                   '(size_t)size)' % (name, name)
        if name in sized:
            return 'sized(room + %d, sizeof(struct %s))' % (0, name) if name != 'tact_model' else 'the.model'
        if name == 'tact_model':
            return 'the.model'
        return '(struct %s *)room' % name
    if p.is_pointer:
        return '(void *)room'
    return NUMBERS.get(p.name, '0')


def generate(cc):
    text = interface.own_text(cc)
    structs, sized = set(interface.complete_structs(text)), set(interface.sized_structs(text))
    code, table = [PROLOGUE], []
    made_here = set(re.findall(r'struct tact_\w+ \*(\w+);', open(os.path.join(os.path.dirname(__file__), 'fixtures.h'),
                                                               encoding='utf-8').read()))
    missing = set()
    for f in interface.functions(text):
        values = []
        makes = has_result = 0
        for i, p in enumerate(f.parameters):
            value = argument(p, structs, sized, f)
            if value and value.startswith('the.') and value[4:] not in made_here:
                missing.add(value[4:])
                value = None
            if value and '&made' in value and not makes:
                makes = i + 1
            if value and value.startswith('result_of'):
                has_result = 1
            null = '0' if not p.is_pointer else 'NULL'
            if value is None:
                values.append(null)
            elif p.is_pointer:
                values.append('(k == %d || k == -1) ? NULL : (void *)%s' % (i, value)
                              if 'result_of' in value or 'sized(' in value else
                              '(k == %d || k == -1) ? NULL : %s' % (i, value))
            else:
                values.append('(%s)%s' % (p.type, value))
        call = '%s(%s)' % (f.name, ',\n\t\t'.join(values))
        if f.result == 'void':
            body = '\t%s;\n\treturn 0;' % call
        elif f.result.endswith('*'):
            body = '\treturn %s ? 1 : 0;' % call
        else:
            body = '\treturn (long)%s;' % call
        code.append('static long call_%s(int k, long size)\n{\n\t(void)k;\n\t(void)size;\n%s\n}\n' % (f.name, body))
        table.append('\t{"%s", call_%s, %d, {%s}, %d, %d},' %
                     (f.name, f.name, len(f.parameters),
                      ', '.join(str(int(p.is_pointer)) for p in f.parameters) or '0', makes, has_result))
    code.append('static const struct function {\n\tconst char *name;\n\tlong (*call)(int, long);\n\tunsigned n;\n'
                '\tunsigned char pointer[16];\n\tint makes, has_result;\n} functions[] = {\n%s\n};\n' % '\n'.join(table))
    code.append(EPILOGUE)
    return '\n'.join(code), {f.name: f for f in interface.functions(text)}, missing


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--cc', default='cc')
    parser.add_argument('--list', action='store_true')
    args = parser.parse_args()
    cc = args.cc.split()
    build = os.path.abspath(args.build)
    code, functions, missing = generate(cc[-1])
    problems = ['fixtures.h makes no struct tact_%s' % m for m in sorted(missing)]
    passed = 0
    with tempfile.TemporaryDirectory() as d:
        source, program = os.path.join(d, 'misuse.c'), os.path.join(d, 'misuse')
        with open(source, 'w', encoding='utf-8') as f:
            f.write(code)
        for name in ('libtact.so', 'libtact.so.0'):
            os.symlink(os.path.join(build, 'libtact.so'), os.path.join(d, name))
        p = subprocess.run(cc + ['-std=gnu11', '-D_GNU_SOURCE', '-w', '-O0', '-I', os.path.join(interface.ROOT, 'include'), '-I',
                                 os.path.dirname(os.path.abspath(__file__)), '-o', program, source,
                                 os.path.join(build, 'libtact.so'), '-Wl,-rpath,' + d], capture_output=True, text=True)
        if p.returncode:
            print(p.stderr[:3000])
            print('0 passed, 1 failed, 0 skipped')
            return 1
        p = subprocess.run([program, os.path.join(interface.ROOT, 'tests/fuzz/corpus')], capture_output=True, text=True,
                           cwd=d, timeout=600)
    seen = set()
    for line in p.stdout.splitlines():
        name, what, value = line.split()
        value = int(value)
        f = functions[name]
        seen.add(name)
        if args.list:
            print(line)
        if what.startswith('size'):
            how = 'a result of size ' + {'size-2': 'its own', 'size-3': 'its own and 64 more'}.get(what, what[4:])
        else:
            k = int(what)
            how = {-1: 'NULL everywhere', -2: 'no NULL'}.get(k) or 'NULL as ' + f.parameters[k].name
        bad = {1000: 'crashes', 1001: 'hangs', 1002: 'writes past the size of a result, or changes it',
               1003: 'fails and leaves *out as it was'}.get(value)
        if not bad and what == '-1' and f.result in ('int', 'long') and value >= 0 and f.parameters and \
                any(q.is_pointer for q in f.parameters) and name not in MAY_SUCCEED_WITH_NULL:
            bad = 'succeeds with %d' % value
        if not bad and what == 'size0' and f.result in ('int', 'long') and value >= 0:
            bad = 'accepts it'
        if bad:
            problems.append('%s: %s: %s' % (name, how, bad))
        else:
            passed += 1
    problems += ['%s was not called' % n for n in functions if n not in seen]
    for problem in problems:
        print('FAIL ' + problem)
    print('%d passed, %d failed, 0 skipped' % (passed, len(problems)))
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
