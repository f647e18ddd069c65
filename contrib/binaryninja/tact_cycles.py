# SPDX-License-Identifier: MIT
"""Binary Ninja: writes beside each selected instruction when it starts and ends, and what presses.

Needs a running service: 'tact serve'. Select instructions, then Plugins > tact > Cycles. What it wrote before
is replaced, and comments of yours stay.
"""
import json
import re
import urllib.error
import urllib.request

from binaryninja import BackgroundTaskThread, PluginCommand, Settings, log_error, log_info

# By the name of Binary Ninja's architecture: a CPU to begin with.
CPUS = {'x86_64': 'SKL', 'aarch64': 'neoverse-n1', 'rv64gc': 'sifive-p670'}
OURS = re.compile(r' ?\[tact [^\]]*\]')
TIMEOUT = 60  # seconds
MOST_BYTES = 1 << 16

SETTINGS = {
    'tact.url': ('Service', 'string', 'http://localhost:7342', 'Where "tact serve" listens.'),
    'tact.cpu': ('CPU', 'string', '', 'A name that "tact archs" lists; empty: one for the architecture.'),
    'tact.token': ('File with the token', 'string', '', 'Of --token-file, if the service was started with it.'),
}


class Failure(Exception):
    pass


def ask_service(url, request, token):
    headers = {'Content-Type': 'application/json'}
    if token:
        headers['Authorization'] = 'Bearer ' + token
    data = json.dumps(request).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url.rstrip('/') + '/api/1/timeline', data, headers),
                                    timeout=TIMEOUT) as reply:
            answer = json.load(reply)
    except urllib.error.HTTPError as e:
        try:
            why = json.load(e)['error']
        except (ValueError, KeyError):
            why = 'status %d' % e.code
        raise Failure('the service refuses: ' + why) from e
    except urllib.error.URLError as e:
        raise Failure('%s does not answer (%s): start it with "tact serve"' % (url, e.reason)) from e
    except ValueError as e:
        raise Failure('%s is no service of tact' % url) from e
    result = answer['results'][0]
    if result['status'] != 'ok':
        raise Failure(result.get('error', result['status']))
    return result


def describe(row, cpu):
    """What is written beside an instruction."""
    if not row['uops']:
        return '[tact %s: with the one before]' % cpu
    parts = ['%s-%s' % (row['start'], row['end'])]
    if row['pressure']:
        parts.append(' '.join('p%s %.2f' % (p, row['pressure'][p]) for p in sorted(row['pressure'], key=int)))
    if row['waits']:
        parts.append('waits: ' + ' '.join(row['waits']))
    if row['under_pressure']:
        parts.append('under pressure')
    return '[tact %s: %s]' % (cpu, ', '.join(parts))


def merge(comment, ours):
    """Replaces what was written before, and keeps the rest."""
    rest = OURS.sub('', comment or '').strip()
    return rest + ' ' + ours if rest else ours


def set_comment(view, address, ours):
    """Comments belong to a function where there is one."""
    functions = view.get_functions_containing(address)
    holder = functions[0] if functions else view
    holder.set_comment_at(address, merge(holder.get_comment_at(address), ours))


class Annotation(BackgroundTaskThread):
    """Asks the service while the window stays usable."""

    def __init__(self, view, address, length):
        super().__init__('tact: cycles', True)
        self.view, self.address, self.length = view, address, length

    def run(self):
        try:
            self.annotate()
        except (Failure, OSError) as e:
            log_error('tact: %s' % e)

    def annotate(self):
        settings, name = Settings(), self.view.arch.name
        cpu = settings.get_string('tact.cpu') or CPUS.get(name)
        token = ''
        if not cpu:
            raise Failure('tact knows no code for ' + name)
        if not 0 < self.length <= MOST_BYTES:
            raise Failure('select instructions, at most %d bytes' % MOST_BYTES)
        if settings.get_string('tact.token'):
            with open(settings.get_string('tact.token')) as f:
                token = f.read().strip()
        code = self.view.read(self.address, self.length)
        result = ask_service(settings.get_string('tact.url'), {'hex': code.hex(), 'archs': cpu,
                                                                   'alignment': self.address % 64}, token)
        with self.view.undoable_transaction():
            for row in result['instructions']:
                set_comment(self.view, self.address + row['offset'], describe(row, result['arch']))
        log_info('tact: %s: %.2f cycles per iteration, limited by %s; %d instructions'
                 % (result['arch'], result['cycles_per_iteration'], ', '.join(result['bottlenecks']) or 'nothing',
                    len(result['instructions'])))


def register():
    settings = Settings()
    settings.register_group('tact', 'tact')
    for key, (title, kind, default, about) in SETTINGS.items():
        settings.register_setting(key, json.dumps({'title': title, 'type': kind, 'default': default,
                                                   'description': about}))
    PluginCommand.register_for_range('tact\\Cycles', 'Start, end and pressure of the selected instructions',
                                     lambda view, address, length: Annotation(view, address, length).start())


register()
