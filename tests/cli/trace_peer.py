#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces through TCP: whole, with a peer that goes away, with a peer that talks nonsense.

usage: trace_peer.py TACT          ./a is a program that ends by itself
"""
import os
import re
import signal
import socket
import subprocess
import sys
import time


def listen(tact):
    p = subprocess.Popen([tact, 'trace', '-a', 'SKL', '--listen', '127.0.0.1:0'], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    port = re.search(r':(\d+)$', p.stderr.readline().strip()).group(1)
    return p, '127.0.0.1:' + port


def instructions(text):
    m = re.search(r'Instructions: *([\d,]+)', text)
    return m.group(1) if m else None


def running(name):
    found = 0
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            words = open('/proc/%s/cmdline' % pid, 'rb').read().split(b'\0')
            found += os.readlink('/proc/%s/cwd' % pid) == os.getcwd() and name in words
        except OSError:
            pass
    return found


def nobody(name):
    deadline = time.monotonic() + 10
    while running(name) and time.monotonic() < deadline:
        time.sleep(0.02)
    return 'nobody left' if not running(name) else 'somebody left'


def whole(tact):
    p, address = listen(tact)
    q = subprocess.run([tact, 'trace', '-q', '--connect', address, '--', './a'], capture_output=True, text=True)
    out, _ = p.communicate(timeout=30)
    print('whole', p.returncode, q.returncode, instructions(out))


def sender_killed(tact):
    """A record that ends halfway: what arrived counts, and a message reports it."""
    p, address = listen(tact)
    q = subprocess.Popen([tact, 'trace', '-q', '--connect', address, '--', 'sh', '-c', 'while :; do :; done'])
    time.sleep(1)
    q.send_signal(signal.SIGKILL)
    out, err = p.communicate(timeout=30)
    q.wait()
    print('sender killed', p.returncode, 'cut short' in err or 'damaged' in err, instructions(out) is not None,
          nobody(b'while :; do :; done'))


def reader_killed(tact):
    p, address = listen(tact)
    q = subprocess.Popen([tact, 'trace', '-q', '--connect', address, '--', 'sh', '-c', 'while :; do :; done'],
                         stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    p.send_signal(signal.SIGKILL)
    p.wait()
    _, err = q.communicate(timeout=30)
    print('reader killed', q.returncode, 'cannot write the trace' in err, nobody(b'while :; do :; done'))


def nonsense(tact):
    p, address = listen(tact)
    s = socket.create_connection(address.split(':'))
    s.sendall(b'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    silent = socket.create_connection(address.split(':'))
    q = subprocess.run([tact, 'trace', '-q', '--connect', address, '--', './a'], capture_output=True, text=True)
    out, _ = p.communicate(timeout=30)
    print('after nonsense', p.returncode, q.returncode, instructions(out))
    s.close()
    silent.close()


def refused(tact):
    s = socket.socket()
    s.bind(('127.0.0.1', 0))
    address = '127.0.0.1:%d' % s.getsockname()[1]
    q = subprocess.run([tact, 'trace', '-q', '--connect', address, '--', './a'], capture_output=True, text=True)
    print('refused', q.returncode, q.stderr.strip().split(': ')[-1])


def main():
    tact = sys.argv[1]
    whole(tact)
    sender_killed(tact)
    reader_killed(tact)
    nonsense(tact)
    refused(tact)


if __name__ == '__main__':
    main()
