# SPDX-License-Identifier: MIT
# Writes beside each selected instruction when it starts and ends, and what presses, as tact predicts
# it. Needs a running service: 'tact serve'. Without a selection it takes the basic block under the
# cursor; what it wrote before is replaced, and comments of yours stay.
# @category Analysis.tact
# @menupath Tools.tact.Cycles
#
# Runs in Ghidra's Jython and in PyGhidra, and needs nothing else. Without questions: script arguments
# URL CPU [FILE with the token], as analyzeHeadless -postScript passes them.
import json
import re

try:
    from urllib.request import Request, urlopen
    from urllib.error import HTTPError, URLError
except ImportError:  # Jython
    from urllib2 import HTTPError, Request, URLError, urlopen

URL = 'http://localhost:7342'
# By the processor of Ghidra's language: a CPU to begin with.
CPUS = {'x86': 'SKL', 'AARCH64': 'neoverse-n1', 'RISCV': 'sifive-p670'}
OURS = re.compile(r' ?\[tact [^\]]*\]')
TIMEOUT = 60  # seconds


class Failure(Exception):
    pass


def ask_service(url, request, token):
    headers = {'Content-Type': 'application/json'}
    if token:
        headers['Authorization'] = 'Bearer ' + token
    try:
        data = json.dumps(request).encode('ascii')
        reply = urlopen(Request(url.rstrip('/') + '/api/1/timeline', data, headers), None, TIMEOUT)
        answer = json.loads(reply.read().decode('utf-8'))
    except HTTPError as e:
        try:
            why = json.loads(e.read().decode('utf-8'))['error']
        except (ValueError, KeyError):
            why = 'status %d' % e.code
        raise Failure('the service refuses: ' + why)
    except URLError as e:
        raise Failure('%s does not answer (%s): start it with "tact serve"' % (url, e.reason))
    except ValueError:
        raise Failure('%s is no service of tact' % url)
    result = answer['results'][0]
    if result['status'] != 'ok':
        raise Failure(result.get('error', result['status']))
    return result


def describe(row, cpu):
    """What is written beside an instruction."""
    if not row['uops']:
        return '[tact %s: with the one before]' % cpu
    text = '%s-%s' % (row['start'], row['end'])
    ports = ' '.join('p%s %.2f' % (p, row['pressure'][p]) for p in sorted(row['pressure'], key=int))
    if ports:
        text += ', ' + ports
    if row['waits']:
        text += ', waits: ' + ' '.join(row['waits'])
    return '[tact %s: %s%s]' % (cpu, text, ', under pressure' if row['under_pressure'] else '')


def merge(comment, ours):
    """Replaces what was written before, and keeps the rest."""
    rest = OURS.sub('', comment or '').strip()
    return rest + ' ' + ours if rest else ours


def selected_instructions():
    area = currentSelection
    if area is None or area.isEmpty():
        from ghidra.program.model.block import BasicBlockModel
        area = BasicBlockModel(currentProgram).getFirstCodeBlockContaining(currentAddress, monitor)
    if area is None:
        raise Failure('there is no code here: select instructions')
    found = list(currentProgram.getListing().getInstructions(area, True))
    if not found:
        raise Failure('no instructions are selected')
    return found


def questions():
    given = [str(word) for word in getScriptArgs()]
    processor = str(currentProgram.getLanguage().getProcessor())
    if processor not in CPUS:
        raise Failure('tact knows no code for ' + processor)
    if given:
        given += [URL, CPUS[processor]][len(given):]
    else:
        given = [str(askString('tact', 'Service', URL)),
                 str(askString('tact', 'CPU (tact archs lists them)', CPUS[processor]))]
    token = ''
    if len(given) > 2:
        with open(given[2]) as f:
            token = f.read().strip()
    return given[0], given[1], token


def run_script():
    url, cpu, token = questions()
    instructions = selected_instructions()
    offsets, code = {}, ''
    place = int(instructions[0].getAddress().getOffset() % 64)
    for i in instructions:
        offsets[len(code) // 2] = i
        code += ''.join('%02x' % (b & 0xff) for b in i.getBytes())
    result = ask_service(url, {'hex': code, 'archs': cpu, 'alignment': place}, token)
    n = 0
    for row in result['instructions']:
        i = offsets.get(row['offset'])
        if i is None:
            raise Failure('the service decodes these bytes differently at +%d' % row['offset'])
        address = i.getAddress()
        setEOLComment(address, merge(getEOLComment(address), describe(row, result['arch'])))
        n += 1
    println('tact: %s: %.2f cycles per iteration, limited by %s; %d instructions'
            % (result['arch'], result['cycles_per_iteration'], ', '.join(result['bottlenecks']) or 'nothing', n))


try:
    run_script()
except Failure as failure:
    printerr('tact: %s' % failure)
