#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the bill of materials of a build as SPDX 2.3 (JSON): what tact is linked with.

usage: sbom.py BUILD

Reads which libraries the program, the library and the modules need from the files themselves, so that
none is forgotten; a library without a row below is an error.  The same build gives the same text,
with the time of SOURCE_DATE_EPOCH.
"""
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# SONAME without its version: name, licence, name for pkg-config
LIBRARIES = {
    'libZydis': ('Zydis', 'MIT', None),
    'libZycore': ('Zycore', 'MIT', None),
    'libdw': ('elfutils (libdw)', 'GPL-2.0-or-later OR LGPL-3.0-or-later', 'libdw'),
    'libelf': ('elfutils (libelf)', 'GPL-2.0-or-later OR LGPL-3.0-or-later', 'libelf'),
    'libsqlite3': ('SQLite', 'blessing', 'sqlite3'),
    'libzstd': ('zstd', 'BSD-3-Clause', 'libzstd'),
    'libjansson': ('jansson', 'MIT', 'jansson'),
    'libmicrohttpd': ('GNU libmicrohttpd', 'LGPL-2.1-or-later', 'libmicrohttpd'),
    'libLLVM': ('LLVM', 'Apache-2.0 WITH LLVM-exception', None),
    'libstdc++': ('GNU libstdc++', 'GPL-3.0-or-later WITH GCC-exception-3.1', None),
    'libgcc_s': ('GNU libgcc', 'GPL-3.0-or-later WITH GCC-exception-3.1', None),
    'libm': ('GNU C library', 'LGPL-2.1-or-later', None),
    'libc': ('GNU C library', 'LGPL-2.1-or-later', None),
    'ld-linux-x86': ('GNU C library', 'LGPL-2.1-or-later', None),
    'libglib': ('GLib', 'LGPL-2.1-or-later', 'glib-2.0'),
}
LINKED_IN = {'libiberty': ('libiberty', 'LGPL-2.1-or-later')}  # static, in the program and the library
FILES = {'tact': 'MIT', 'libtact.so.0': 'MIT', 'tact_trace.so': 'GPL-2.0-or-later', 'tact_llvm.so': 'MIT',
         'tact_llvm_as': 'MIT'}


def needed(path):
    out = subprocess.run(['readelf', '-d', path], capture_output=True, text=True, check=True).stdout
    return sorted(re.findall(r'\(NEEDED\).*\[(.*)\]', out))


def version_of(package):
    if not package:
        return 'NOASSERTION'
    p = subprocess.run(['pkg-config', '--modversion', package], capture_output=True, text=True)
    return p.stdout.strip() if p.returncode == 0 else 'NOASSERTION'


def package(name, licence, version):
    return {'SPDXID': 'SPDXRef-' + re.sub(r'[^A-Za-z0-9]+', '-', name).strip('-'), 'name': name,
            'versionInfo': version, 'downloadLocation': 'NOASSERTION', 'filesAnalyzed': False,
            'licenseConcluded': licence, 'licenseDeclared': licence, 'copyrightText': 'NOASSERTION'}


def main():
    build = sys.argv[1]
    with open(os.path.join(ROOT, 'include', 'tact', 'version.h')) as f:
        version = '.'.join(re.findall(r'#define TACT_VERSION_[A-Z]+ (\d+)', f.read())[:3])
    packages = {'tact': package('tact', 'MIT AND GPL-2.0-or-later', version)}
    files, relations = [], []
    for name, licence in FILES.items():
        path = os.path.join(build, name)
        if not os.path.exists(path):
            continue
        with open(path, 'rb') as f:
            data = f.read()
        identity = 'SPDXRef-File-' + re.sub(r'[^A-Za-z0-9]+', '-', name)
        files.append({'SPDXID': identity, 'fileName': './' + name, 'licenseConcluded': licence,
                      'copyrightText': 'NOASSERTION', 'checksums': [
                          {'algorithm': kind, 'checksumValue': hashlib.new(kind, data).hexdigest()}
                          for kind in ('SHA1', 'SHA256')]})
        relations.append(('SPDXRef-tact', 'CONTAINS', identity))
        for library in needed(path):
            stem = re.sub(r'(-\d[\d.]*)?\.so.*$', '', library)
            if stem not in LIBRARIES:
                sys.exit('sbom.py: %s needs %s, which has no row in LIBRARIES' % (name, library))
            title, its_licence, pkg = LIBRARIES[stem]
            packages.setdefault(title, package(title, its_licence, version_of(pkg)))
            relations.append((identity, 'DYNAMIC_LINK', packages[title]['SPDXID']))
    for title, licence in LINKED_IN.values():
        packages[title] = package(title, licence, 'NOASSERTION')
        relations.append(('SPDXRef-tact', 'STATIC_LINK', packages[title]['SPDXID']))
    when = datetime.datetime.fromtimestamp(int(os.environ.get('SOURCE_DATE_EPOCH', 0)),
                                           datetime.timezone.utc)
    print(json.dumps({
        'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT',
        'name': 'tact-' + version,
        'documentNamespace': 'urn:tact:spdx:%s:%s' % (version, hashlib.sha256(
            json.dumps(files, sort_keys=True).encode()).hexdigest()),
        'creationInfo': {'created': when.strftime('%Y-%m-%dT%H:%M:%SZ'), 'creators': ['Tool: sbom.py']},
        'documentDescribes': ['SPDXRef-tact'],
        'packages': list(packages.values()), 'files': files,
        'relationships': [{'spdxElementId': 'SPDXRef-DOCUMENT', 'relationshipType': 'DESCRIBES',
                           'relatedSpdxElement': 'SPDXRef-tact'}] +
                         [{'spdxElementId': a, 'relationshipType': kind, 'relatedSpdxElement': b}
                          for a, kind, b in dict.fromkeys(relations)]}, indent=1))


main()
