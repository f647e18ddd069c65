# SPDX-License-Identifier: MIT
"""Prints a pprof profile as folded stacks with all values: profile.proto decoded by hand.

usage: read_pprof.py FILE
"""
import gzip
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        assert tag >> 3 and tag & 7 in (0, 2), tag
        value, at = varint(data, at)
        if tag & 7 == 2:
            assert at + value <= len(data)
            value, at = data[at:at + value], at + value
        yield tag >> 3, value


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def every(profile, number):
    return [value for field, value in profile if field == number]


profile = list(fields(gzip.open(sys.argv[1]).read()))
strings = [s.decode() for s in every(profile, 6)]
assert strings[0] == '' and len(set(strings)) == len(strings)
messages = {number: [dict(fields(m)) for m in every(profile, number)] for number in (1, 2, 3, 4, 5)}
functions = {f[1]: strings[f[2]] for f in messages[5]}
files = {m[1]: strings[m[5]] for m in messages[3]}
locations = {}
for m in messages[4]:
    assert m.get(2, 0) == 0 or m[2] in files
    locations[m[1]] = functions[dict(fields(m[4]))[1]]
assert 0 not in locations and strings[dict(profile)[14]] == strings[messages[1][0][1]]
print(' '.join('%s/%s' % (strings[t[1]], strings[t[2]]) for t in messages[1]))
for sample in messages[2]:
    values = packed(sample[2])
    assert len(values) == len(messages[1])
    print(';'.join(locations[n] for n in reversed(packed(sample[1]))), *values)
