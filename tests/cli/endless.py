# SPDX-License-Identifier: MIT
"""What the tests of programs that do not end share: ./p endless, see collect_programs.c."""
import os
import subprocess
import time


def processes():
    """Those here that have the word "endless", whoever their parents are."""
    found = set()
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            words = open('/proc/%s/cmdline' % pid, 'rb').read().split(b'\0')
            state = open('/proc/%s/stat' % pid).read().rsplit(')', 1)[1].split()[0]
            here = os.readlink('/proc/%s/cwd' % pid) == os.getcwd()
        except OSError:
            continue
        if here and state != 'Z' and b'endless' in words:
            found.add(int(pid))
    return found


def end(command, *signals):
    """Sends signals to a command that runs ./p endless.  Prints its exit code, its messages and the processes left."""
    p = subprocess.Popen([*command, '--', './p', 'endless'], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True)
    try:
        for _ in range(2):  # the program and its child
            p.stdout.readline()
        assert len(processes()) >= 3, 'tact, the program and its child'
        for i, number in enumerate(signals):
            time.sleep(0.5 if i else 0)
            p.send_signal(number)
        err = p.communicate(timeout=30)[1]
    finally:  # whatever went wrong: an endless program does not outlive the test
        p.kill()
    deadline = time.monotonic() + 10
    while processes() and time.monotonic() < deadline:
        time.sleep(0.02)
    left = 'nobody left' if not processes() else 'left: %s' % processes()
    return p.returncode, [line for line in err.splitlines() if 'interrupted' in line], left
