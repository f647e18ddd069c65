#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the bill of materials of a build as SPDX 2.3 (JSON): what tact is linked with.

usage: sbom.py BUILD

Reads which libraries the program, the library and the modules need from the files themselves, so that
none is forgotten; a library without a row below is an error.  What is loaded only when somebody asks
for it is listed as optional.  Versions are those of Debian's packages, where this is a Debian.  The
same build on the same machine gives the same text, with the time of SOURCE_DATE_EPOCH.
"""
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
from urllib.parse import quote

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
    'libLLVM': ('LLVM', 'Apache-2.0 WITH LLVM-exception', None),
    'libstdc++': ('GNU libstdc++', 'GPL-3.0-or-later WITH GCC-exception-3.1', None),
    'libgcc_s': ('GNU libgcc', 'GPL-3.0-or-later WITH GCC-exception-3.1', None),
    'libm': ('GNU C library', 'LGPL-2.1-or-later', None),
    'libc': ('GNU C library', 'LGPL-2.1-or-later', None),
    'ld-linux-x86': ('GNU C library', 'LGPL-2.1-or-later', None),
    'libglib': ('GLib', 'LGPL-2.1-or-later', 'glib-2.0'),
}
LINKED_IN = {'libiberty': ('libiberty', 'LGPL-2.1-or-later')}  # static, in the program and the library
LOADED = {'libdnnl': ('oneDNN', 'Apache-2.0'), 'libmicrohttpd': ('GNU libmicrohttpd', 'LGPL-2.1-or-later')}
FILES = {'tact': 'MIT', 'libtact.so.0': 'MIT', 'tact_trace.so': 'GPL-2.0-or-later', 'tact_llvm.so': 'MIT',
         'tact_llvm_as': 'MIT'}


def needed(path):
    out = subprocess.run(['readelf', '-d', path], capture_output=True, text=True, check=True).stdout
    return sorted(re.findall(r'\(NEEDED\).*\[(.*)\]', out))


def output_of(*command):
    try:
        p = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        return ''
    return p.stdout if p.returncode == 0 else ''


def found_at(path):
    """Where the loader finds the libraries of a file, by their names."""
    found = {}
    for line in output_of('ldd', path).splitlines():
        places = [word for word in line.split() if word.startswith('/')]
        if places:
            found[os.path.basename(line.split()[0])] = places[-1]
    return found


def debian_of(path):
    """Name and version of the package that has a file; None: this is no Debian."""
    for name in (path, os.path.realpath(path), os.path.realpath(path).removeprefix('/usr')) if path else ():
        owner = output_of('dpkg-query', '-S', name).partition(':')[0]
        version = output_of('dpkg-query', '-W', '-f', '${Version}\n', owner).partition('\n')[0] if owner else ''
        if version:
            return owner, version
    return None


def version_of(package):
    return output_of('pkg-config', '--modversion', package).strip() if package else ''


def package(name, licence, version, debian=None):
    found = {'SPDXID': 'SPDXRef-' + re.sub(r'[^A-Za-z0-9]+', '-', name).strip('-'), 'name': name,
             'versionInfo': debian[1] if debian else version or 'NOASSERTION',
             'downloadLocation': 'NOASSERTION', 'filesAnalyzed': False,
             'licenseConcluded': licence, 'licenseDeclared': licence, 'copyrightText': 'NOASSERTION'}
    if debian:
        found['externalRefs'] = [{
            'referenceCategory': 'PACKAGE-MANAGER', 'referenceType': 'purl',
            'referenceLocator': 'pkg:deb/debian/%s@%s' % (debian[0], quote(debian[1], safe='.-~'))}]
    return found


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
                      'licenseInfoInFiles': [licence],
                      'copyrightText': 'NOASSERTION', 'checksums': [
                          {'algorithm': kind, 'checksumValue': hashlib.new(kind, data).hexdigest()}
                          for kind in ('SHA1', 'SHA256')]})
        relations.append(('SPDXRef-tact', 'CONTAINS', identity))
        places = found_at(path)
        for library in needed(path):
            stem = re.sub(r'(-\d[\d.]*)?\.so.*$', '', library)
            if stem not in LIBRARIES:
                sys.exit('sbom.py: %s needs %s, which has no row in LIBRARIES' % (name, library))
            title, its_licence, pkg = LIBRARIES[stem]
            if title not in packages:
                packages[title] = package(title, its_licence, version_of(pkg), debian_of(places.get(library)))
            relations.append((identity, 'DYNAMIC_LINK', packages[title]['SPDXID']))
    for title, licence in LINKED_IN.values():
        packages[title] = package(title, licence, 'NOASSERTION')
        relations.append(('SPDXRef-tact', 'STATIC_LINK', packages[title]['SPDXID']))
    for title, licence in LOADED.values():
        packages[title] = package(title, licence, '')
        relations.append((packages[title]['SPDXID'], 'OPTIONAL_DEPENDENCY_OF', 'SPDXRef-tact'))
    # SPDX 2.3, 7.9: what tells the files of a package from others.
    sums = sorted(f['checksums'][0]['checksumValue'] for f in files)
    packages['tact'].update(filesAnalyzed=True, licenseInfoFromFiles=sorted(set(FILES.values())),
                            packageVerificationCode={'packageVerificationCodeValue': hashlib.sha1(
                                ''.join(sums).encode()).hexdigest()})
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
