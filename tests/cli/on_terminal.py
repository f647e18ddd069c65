#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a command whose output and errors go to a terminal, and prints what it writes there.

usage: on_terminal.py COLUMNS [--bars] [--pause] COMMAND...

Lines of progress, which begin with CR and "erase to the end of the line", are left out; --bars
prints them instead of everything else, one by one, and "(empty)" for one that only erases.
--pause stops the command for a second when it has just begun, so that it lasts long enough to show
its progress however fast the machine is.  Exits as the command does.
"""
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time

ERASE = '\r\x1b[K'


def run(columns, words, pauses):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    if pauses:
        time.sleep(0.1)
        child.send_signal(signal.SIGSTOP)
        time.sleep(1)
        child.send_signal(signal.SIGCONT)
    text = b''
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    return child.wait(), text.decode('utf-8', 'replace').replace('\r\n', '\n')


def main():
    words = sys.argv[2:]
    options = set()
    while words[0] in ('--bars', '--pause'):
        options.add(words.pop(0))
    are_bars = '--bars' in options
    status, text = run(int(sys.argv[1]), words, '--pause' in options)
    if not are_bars:
        sys.stdout.write(re.sub(r'\r\x1b\[K[^\r\n]*(?=\r)', '', text).replace(ERASE, ''))
        return status
    for part in text.split(ERASE)[1:]:
        print(part.split('\n')[0] or '(empty)')
    return status


if __name__ == '__main__':
    sys.exit(main())
