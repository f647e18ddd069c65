# SPDX-License-Identifier: MIT
"""The public interface as its headers declare it: functions with their parameters, structs with their fields."""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def own_text(cc, headers=None):
    """All public headers after the preprocessor, without what comes from the system."""
    source = '#include <tact/tact.h>\n'
    out = subprocess.run([cc, '-E', '-x', 'c', '-I', os.path.join(ROOT, 'include'), '-'], input=source,
                         capture_output=True, text=True, check=True).stdout
    own, text = False, []
    for line in out.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            own = '/include/tact/' in marker.group(1)
        elif own:
            text.append(line)
    return re.sub(r'\s*__attribute__\(\(.*?\)\)\)', '', '\n'.join(text))


def statements(text):
    """Declarations at file scope."""
    depth, start = 0, 0
    for i, c in enumerate(text):
        if c in '{(':
            depth += 1
        elif c in '})':
            depth -= 1
        elif c == ';' and not depth:
            yield ' '.join(text[start:i].split())
            start = i + 1


def split_parameters(text):
    depth, start, parts = 0, 0, []
    for i, c in enumerate(text):
        depth += c in '([{'
        depth -= c in ')]}'
        if c == ',' and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return [] if parts == ['void'] else [p for p in parts if p != '...']


class Parameter:
    def __init__(self, text):
        self.text = text
        function = re.match(r'(.*)\(\*(\w+)\)\((.*)\)$', text)
        array = re.match(r'(.*?)(\w+)((?:\[[^]]*\])+)$', text)
        self.is_function = bool(function)
        if function:
            self.type, self.name = '%s (*)(%s)' % (function.group(1).strip(), function.group(3)), function.group(2)
        elif array:
            self.type, self.name = array.group(1).strip() + ' *', array.group(2)
        else:
            self.type, self.name = re.match(r'(.*?)(\w+)$', text).groups()
            self.type = self.type.strip()
        self.is_pointer = self.is_function or self.type.endswith('*')


class Function:
    def __init__(self, result, name, parameters):
        self.result, self.name = result, name
        self.parameters = [Parameter(p) for p in split_parameters(parameters)]


def functions(text):
    found = []
    for s in statements(text):
        m = re.match(r'((?:const |struct |enum |unsigned |extern )*\w+(?: \*+(?:const \*)?| )\**)(tact_\w+)\((.*)\)$', s)
        if m and not s.startswith('typedef'):
            found.append(Function(m.group(1).replace('extern', '').strip(), m.group(2), m.group(3)))
    return found


def sized_structs(text):
    """Structs that begin with their size."""
    return re.findall(r'\bstruct (tact_\w+) \{ size_t size;', ' '.join(text.split()))


def complete_structs(text):
    return re.findall(r'\bstruct (tact_\w+) \{', ' '.join(text.split()))
