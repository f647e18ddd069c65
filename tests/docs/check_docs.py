#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the documents: tables of the README, lengths, links, figures, pictures.

usage: check_docs.py [--tact PROGRAM]

The last line of the output is "N passed, M failed, K skipped".
"""
import argparse
import csv
import fnmatch
import glob
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MAX_README = 155
MAX_COLUMNS = 100
# Words that show that a sentence was translated, and what to write instead.
FOREIGN = (
    (r'\b(?:a row|one row|a line|one line|a file|one file|one call) an? (?:command|model|bound|stage|block|form|'
     r'parameter|uop|module|error)\b', 'one ... per ...'),
    (r'\bin front of\b', 'before'),
    (r'\blikewise\b', 'the same'),
    (r'\bbesides\b', 'also'),
    (r'\bnobody\b', 'no one, or name who'),
    (r'\bthose who\b', 'people who'),
)
# What is claimed with a unit has to come from a file.
CLAIM = re.compile(r'\b\d[\d.,]*( to \d[\d.,]*)? ?(%|µs|ms|MB|KB|seconds?|blocks (?:a|per) second|cycles per byte)(?!\w)')

passed, failures = 0, 0


def check(name, problems):
    global passed, failures
    if problems:
        failures += 1
        print('FAIL %s' % name)
        for p in problems[:25]:
            print('    ' + p)
        if len(problems) > 25:
            print('    and %d more' % (len(problems) - 25))
    else:
        passed += 1


def read(path):
    with open(os.path.join(TOP, path), encoding='utf-8') as f:
        return f.read()


def documents():
    found = glob.glob(TOP + '/*.md') + glob.glob(TOP + '/doc/**/*.md', recursive=True) + \
        glob.glob(TOP + '/data/*.md')
    return sorted(os.path.relpath(p, TOP) for p in found)


def plain_lines(path):
    """(number, line) outside of code, comments of figures taken out."""
    in_code = False
    for n, line in enumerate(read(path).splitlines(), 1):
        if line.lstrip().startswith('```'):
            in_code = not in_code
        elif not in_code:
            yield n, re.sub(r'<!--/?f.*?-->', '', line)


def section(path, title):
    m = re.search(r'^## %s\n(.*?)(?=^## |\Z)' % re.escape(title), read(path), re.M | re.S)
    return m.group(1) if m else ''


def first_column(text):
    """The words in `code` in the first column of the tables of a text."""
    return [w for line in text.splitlines() if line.startswith('|')
            for w in re.findall(r'`([^`]+)`', line.split('|')[1])]


def every_name(text):
    """The words in `code` in odd columns: a table that goes on to the right."""
    return [w for line in text.splitlines() if line.startswith('|')
            for cell in line.strip().strip('|').split('|')[::2] for w in re.findall(r'`([^`]+)`', cell)]


def same(found, wanted):
    return ['%s is not in the table' % x for x in sorted(set(wanted) - set(found))] + \
        ['%s does not exist' % x for x in sorted(set(found) - set(wanted))] + \
        ['%s is there twice' % x for x in sorted({x for x in found if found.count(x) > 1})]


def check_readme():
    commands = re.findall(r'^\t\{"(\w+)", ".*cmd_\w+\},$', read('cli/main.c'), re.M)
    check('README: every command has its row',
          same(first_column(section('README.md', 'Commands')), commands) if commands else ['no commands'])
    headers = [os.path.basename(p) for p in glob.glob(TOP + '/include/tact/*.h')]
    check('README: every public header has its row',
          same(every_name(section('README.md', 'Headers')), headers))
    modules = [os.path.basename(os.path.dirname(p)) for p in glob.glob(TOP + '/lib/*/')]
    check('README: every module has its row', same(every_name(section('README.md', 'Modules')), modules))
    lines = read('README.md').splitlines()
    check('README has at most %d lines' % MAX_README,
          ['it has %d' % len(lines)] if len(lines) > MAX_README else [])
    top = '\n'.join(lines[:20])
    check('README shows a picture near the top', [] if '![' in top else ['there is none in the first 20 lines'])
    # Every document can be found from the README.
    linked = set(re.findall(r'\]\(([^)#]+)', read('README.md')))
    check('README leads to every document', ['%s is not linked' % d for d in documents()
                                             if d != 'README.md' and d not in linked])


def check_lists():
    """Other lists in documents that have to be whole."""
    suites = re.findall(r"^    '(\w+)': (?:lambda|\w+_jobs)", read('tests/run.py'), re.M)
    table = [line.split('|')[1].strip() for line in section('doc/architecture.md', 'Tests').splitlines()
             if re.match(r'\| \w+ \|', line)][1:]
    check('architecture: every suite of tests has its row', same(table, suites))
    targets = re.findall(r'^# make ([a-z][\w-]+)', read('Makefile'), re.M)
    listed = re.findall(r'^make ([a-z][\w-]+)', section('CONTRIBUTING.md', 'Build and test'), re.M)
    check('CONTRIBUTING: every target of the Makefile is there',
          ['make %s is not listed' % t for t in targets if t not in (*listed, 'install', 'clean')] +
          ['make %s does not exist' % t for t in listed if not re.search(r'^[\w -]*\b%s\b[\w -]*:' % t,
                                                                        read('Makefile'), re.M)])


def obeys(row):
    """The names and patterns of a row's cell, and those after 'except'."""
    names, excepted = [], []
    for before, name in re.findall(r'(except )?`([^`]+)`', row):
        (excepted if before else names).append(name)
    return names, excepted


def check_models(tact):
    """formats.md tells of every parameter which models obey it, as the program does."""
    text = read('doc/formats.md').split('### Which models obey a parameter')[1].split('### ')[0]
    rows = [(r.split('|')[1], obeys(r.split('|')[2])) for r in text.splitlines() if re.match(r'\| .*`', r)]
    ways = [('+'.join(w for w in re.findall(r'`(\w+)`', models)), names) for models, names in rows]
    listing = subprocess.run([tact, 'archs', 'SKL', '-f', 'csv'], capture_output=True, text=True).stdout
    problems = []
    for row in csv.DictReader(listing.splitlines()):
        name = row['parameter']
        found = [m for m, (names, _) in ways if name in names] or \
            [m for m, (names, out) in ways if any(fnmatch.fnmatchcase(name, n) for n in names) and
             not any(fnmatch.fnmatchcase(name, n) for n in out)]
        if found != [row['models']] and (found or row['models']):
            problems.append('%s: %s, but the program says %r' % (name, found, row['models']))
    check('formats: which models obey a parameter', problems or ([] if listing else ['no parameters']))


def check_columns():
    problems = []
    for path in documents():
        for n, line in plain_lines(path):
            bare = re.sub(r'\]\([^)]*\)', ']', line)
            if len(bare) > MAX_COLUMNS and not line.lstrip('> ').startswith('|'):
                problems.append('%s:%d: %d columns' % (path, n, len(bare)))
    check('documents have at most %d columns outside of tables and code' % MAX_COLUMNS, problems)


def anchors(path):
    found = set()
    for _, line in plain_lines(path):
        m = re.match(r'#+ (.*)', line)
        if m:
            text = re.sub(r'[^\w\- ]', '', m.group(1).lower())
            found.add(text.replace(' ', '-'))
    return found


def check_links():
    problems = []
    for path in documents():
        for n, line in plain_lines(path):
            for target in re.findall(r'\]\(([^)\s]+)\)', re.sub(r'`[^`]*`', '', line)):
                if re.match(r'https?:|mailto:', target):
                    continue
                file, _, anchor = target.partition('#')
                there = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
                if not os.path.exists(os.path.join(TOP, there)):
                    problems.append('%s:%d: %s does not exist' % (path, n, target))
                elif anchor and there.endswith('.md') and anchor not in anchors(there):
                    problems.append('%s:%d: there is no heading %s' % (path, n, target))
    check('links lead somewhere', problems)


def check_paths():
    """Files and folders of the project that documents name in code."""
    problems = []
    roots = ('lib/', 'cli/', 'include/', 'doc/', 'data/', 'tests/', 'bench/', 'examples/', 'man/', 'web/', 'gen/',
             'plugin/')
    for path in documents():
        if path == 'CHANGELOG.md':
            continue
        for n, line in plain_lines(path):
            for name in re.findall(r'`([^`\s]+)`', line):
                name = name.rstrip('.,:')
                if name.startswith(roots) and not re.search(r'[*<>{}]|NAME|XXX|ARCH|MODULE|COMMAND', name) and \
                        not os.path.exists(os.path.join(TOP, name)):
                    problems.append('%s:%d: %s does not exist' % (path, n, name))
    check('files that documents name exist', problems)


def check_words():
    problems = []
    for path in documents():
        text = '\n'.join('%d\t%s' % line for line in plain_lines(path))
        for pattern, instead in FOREIGN:
            for m in re.finditer(pattern, text, re.I):
                n = text[:m.start()].rsplit('\n', 1)[-1].split('\t')[0]
                problems.append('%s:%s: "%s": write %s' % (path, n, m.group(0), instead))
    check('documents read as English', problems)


def check_figures():
    p = subprocess.run([sys.executable, 'bench/figures.py', 'check'], cwd=TOP, capture_output=True, text=True)
    check('figures are those of doc/figures.json and doc/accuracy.json', p.stderr.splitlines())
    p = subprocess.run([sys.executable, 'bench/write_accuracy.py', 'check'], cwd=TOP, capture_output=True,
                       text=True)
    check('doc/accuracy.md is what doc/accuracy.json says', p.stderr.splitlines())
    problems = []
    for path in ('README.md', 'doc/embedding.md', 'doc/architecture.md'):
        in_code = False
        for n, line in enumerate(read(path).splitlines(), 1):
            if line.startswith('```'):
                in_code = not in_code
            free = re.sub(r'<!--f.*?<!--/f-->', '', line)
            free = re.sub(r'`[^`]*`', '', free)
            if not in_code and CLAIM.search(free):
                problems.append('%s:%d: %s' % (path, n, CLAIM.search(free).group(0)))
    check('figures of README, embedding and architecture come from a file', problems)


def check_pictures(tact):
    p = subprocess.run([sys.executable, 'gen/draw_pictures.py', '--tact', tact, '--check'], cwd=TOP,
                       capture_output=True, text=True)
    check('pictures show what the program prints', p.stderr.splitlines())


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--tact', default=os.path.join(TOP, 'build/tact'))
    args = parser.parse_args()
    check_readme()
    check_lists()
    check_models(os.path.abspath(args.tact))
    check_columns()
    check_links()
    check_paths()
    check_words()
    check_figures()
    check_pictures(os.path.abspath(args.tact))
    print('%d passed, %d failed, 0 skipped' % (passed, failures))
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
