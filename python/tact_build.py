# SPDX-License-Identifier: MIT
"""Builds the wheel and the source archive, without anything that would have to be downloaded.

A build backend as PEP 517 has it.  The wheel contains libtact, and the module and the assembler for
LLVM's models where they were built, from the folder that TACT_BUILD names (default: ../build).  It
works on machines with the libraries that libtact needs (`ldd libtact.so.0` lists them).  Of the
source archive alone, which has no libtact, the wheel is one for all machines that takes the
system's.  Archives are reproducible: what is in them has the time of SOURCE_DATE_EPOCH, or 1980.
"""
import base64
import gzip
import hashlib
import io
import os
import platform
import re
import tarfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BUILD = os.environ.get('TACT_BUILD', os.path.join(ROOT, 'build'))
SUMMARY = 'How many cycles machine code takes on a CPU, and why'
# name: whether it has to be there
LIBRARIES = {'libtact.so.0': True, 'tact_llvm.so': False, 'tact_llvm_as': False}
PROGRAM = 'tact_llvm_as'  # of them, what is executed


HEADER = os.path.join(ROOT, 'include', 'tact', 'version.h')


def _is_archive():
    """Whether this is an unpacked source archive, not the tree of tact."""
    return not os.path.exists(HEADER)


def _version():
    """The one of the library's headers; a source archive carries it in PKG-INFO."""
    if _is_archive():
        with open(os.path.join(HERE, 'PKG-INFO')) as f:
            return re.search(r'^Version: (\S+)', f.read(), re.M).group(1)
    with open(HEADER) as f:
        text = f.read()
    return '.'.join(re.search(r'#define TACT_VERSION_%s (\d+)' % part, text).group(1)
                    for part in ('MAJOR', 'MINOR', 'PATCH'))


def _metadata():
    return ('Metadata-Version: 2.1\nName: tact\nVersion: %s\nSummary: %s\nLicense: MIT\n'
            'Classifier: License :: OSI Approved :: MIT License\n'
            'Classifier: Operating System :: POSIX :: Linux\n'
            'Classifier: Programming Language :: Python :: 3\nClassifier: Typing :: Typed\n'
            'Requires-Python: >=3.9\nRequires-Dist: numpy>=1.20\n'
            'Description-Content-Type: text/markdown\n\n%s'
            % (_version(), SUMMARY, _read(os.path.join(HERE, 'README.md')).decode()))


def _licence():
    return _read(os.path.join(HERE if _is_archive() else ROOT, 'LICENSE'))


def _sources():
    """What the package consists of, by its name in the archive."""
    package = os.path.join(HERE, 'tact')
    return {'tact/' + name: os.path.join(package, name) for name in sorted(os.listdir(package))
            if name.endswith('.py') or name == 'py.typed'}


def _libraries():
    found = {}
    if _is_archive() and 'TACT_BUILD' not in os.environ:
        return found
    for name, is_needed in LIBRARIES.items():
        path = os.path.join(BUILD, name)
        if os.path.exists(path):
            found['tact/native/' + name] = path
        elif is_needed:
            raise SystemExit('%s is missing: run make first, or let TACT_BUILD name the folder that '
                             'has it' % path)
    return found


def _epoch():
    return max(int(os.environ.get('SOURCE_DATE_EPOCH', 315532800)), 315532800)


def _read(path):
    with open(path, 'rb') as f:
        return f.read()


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_sdist = get_requires_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel and returns its name."""
    libraries = _libraries()
    tag = 'py3-none-linux_' + platform.machine() if libraries else 'py3-none-any'
    info = 'tact-%s.dist-info' % _version()
    files = {name: _read(path) for name, path in {**_sources(), **libraries}.items()}
    files[info + '/LICENSE'] = _licence()
    files[info + '/METADATA'] = _metadata().encode()
    files[info + '/WHEEL'] = ('Wheel-Version: 1.0\nGenerator: tact_build\nRoot-Is-Purelib: %s\n'
                              'Tag: %s\n' % ('false' if libraries else 'true', tag)).encode()
    record = ''.join('%s,sha256=%s,%d\n' % (
        name, base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode(),
        len(data)) for name, data in files.items())
    files[info + '/RECORD'] = (record + info + '/RECORD,,\n').encode()
    wheel = 'tact-%s-%s.whl' % (_version(), tag)
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), 'w', zipfile.ZIP_DEFLATED) as z:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(_epoch())[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name.endswith('/' + PROGRAM) else 0o100644) << 16
            z.writestr(entry, data)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    """Writes the source archive and returns its name."""
    top = 'tact-%s' % _version()
    files = {name: _read(path) for name, path in _sources().items()}
    for name in ('pyproject.toml', 'README.md', 'tact_build.py'):
        files[name] = _read(os.path.join(HERE, name))
    files['LICENSE'] = _licence()
    files['PKG-INFO'] = _metadata().encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode='w', format=tarfile.USTAR_FORMAT) as t:
        for name, data in files.items():
            entry = tarfile.TarInfo(top + '/' + name)
            entry.size, entry.mtime, entry.mode = len(data), _epoch(), 0o644
            t.addfile(entry, io.BytesIO(data))
    with open(os.path.join(sdist_directory, top + '.tar.gz'), 'wb') as f:
        f.write(gzip.compress(packed.getvalue(), mtime=_epoch()))
    return top + '.tar.gz'


if __name__ == '__main__':
    import sys
    where = sys.argv[1] if len(sys.argv) > 1 else '.'
    os.makedirs(where, exist_ok=True)
    for built in (build_wheel(where), build_sdist(where)):
        print(os.path.join(where, built))
