# SPDX-License-Identifier: MIT
"""A Slurm of its own: several virtual nodes on this machine, in a folder that goes away with it.

Its daemons are children of this process and listen on loopback; nothing of a Slurm that the system has
is read or changed.
"""
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

CONFIG = """\
ClusterName=tact
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={dir}/munge.socket,cred_expire=5
CredType=cred/munge
MessageTimeout=60
SlurmctldPort={ports[0]}
SlurmctldPidFile={dir}/slurmctld.pid
SlurmctldLogFile={dir}/slurmctld.log
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool_%n
SlurmdPidFile={dir}/slurmd_%n.pid
SlurmdLogFile={dir}/slurmd_%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=requeue_delay=1
ReturnToService=2
SlurmdTimeout=300
KillWait=5
MinJobAge=3600
"""


def free_ports(n):
    held = [socket.socket() for _ in range(n)]
    for s in held:
        s.bind(('127.0.0.1', 0))
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


class Slurm:
    """Use it in a with statement."""

    def __init__(self, nodes):
        self.nodes = ['n%d' % i for i in range(1, nodes + 1)]
        # munge wants a path that only root writes to
        self.dir = tempfile.mkdtemp(prefix='tact-slurm-', dir='/run' if os.access('/run', os.W_OK) else None)
        os.chmod(self.dir, 0o755)
        self.daemons = []
        self.env = {**os.environ, 'SLURM_CONF': self.dir + '/slurm.conf'}
        for name in list(self.env):
            if name.startswith('SLURM') and name != 'SLURM_CONF':
                del self.env[name]

    def start(self, *command):
        with open(self.dir + '/daemons.log', 'a', encoding='utf-8') as log:
            self.daemons.append(subprocess.Popen(command, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                 start_new_session=True))

    def write_config(self):
        ports = free_ports(1 + len(self.nodes))
        host = socket.gethostname().split('.')[0]
        text = CONFIG.format(dir=self.dir, host=host, ports=ports)
        for name, port in zip(self.nodes, ports[1:]):
            text += 'NodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=1\n' % (name, host, port)
        text += 'PartitionName=all Nodes=%s Default=YES MaxTime=INFINITE State=UP\n' % ','.join(self.nodes)
        for path, data, mode in (('slurm.conf', text.encode(), 0o644), ('munge.key', os.urandom(128), 0o400)):
            with open(os.path.join(self.dir, path), 'wb') as out:
                out.write(data)
            os.chmod(os.path.join(self.dir, path), mode)
        for name in ['state'] + ['spool_' + n for n in self.nodes]:
            os.mkdir(os.path.join(self.dir, name))

    def wait_until(self, what, seconds, is_so):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if is_so():
                return
            for d in self.daemons:
                if d.poll() is not None:
                    raise RuntimeError('%s ended while waiting for %s\n%s' % (d.args[0], what, self.logs()))
            time.sleep(0.3)
        raise RuntimeError('%s took more than %d seconds\n%s' % (what, seconds, self.logs()))

    def logs(self):
        text = ''
        for name in sorted(os.listdir(self.dir)):
            if name.endswith('.log'):
                with open(os.path.join(self.dir, name), errors='replace', encoding='utf-8') as log:
                    text += '--- %s\n%s' % (name, ''.join(log.readlines()[-15:]))
        return text

    def __enter__(self):
        try:
            self.write_config()
            self.start('munged', '--foreground', '--force', '--key-file=%s/munge.key' % self.dir,
                       '--socket=%s/munge.socket' % self.dir, '--pid-file=%s/munged.pid' % self.dir,
                       '--seed-file=%s/munged.seed' % self.dir, '--log-file=%s/munged.log' % self.dir)
            self.wait_until('munge', 20, lambda: os.path.exists(self.dir + '/munge.socket'))
            self.start('slurmctld', '-D', '-i')
            for name in self.nodes:
                self.start('slurmd', '-D', '-N', name)
            self.wait_until('all nodes', 60, lambda: self.states().count('idle') == len(self.nodes))
        except BaseException:
            self.__exit__()
            raise
        return self

    def states(self):
        done = self.run('sinfo', '-h', '-N', '-o', '%T', check=False)
        return done.stdout.split() if done.returncode == 0 else []

    def run(self, *command, check=True, env=None, timeout=300):
        try:
            done = subprocess.run(command, env={**self.env, **(env or {})}, capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            if check:
                raise
            done = subprocess.CompletedProcess(command, 124, '', 'no answer')
        if check and done.returncode:
            raise RuntimeError('%s: %s%s' % (' '.join(command), done.stdout, done.stderr))
        return done

    def tasks(self, job):
        """The state of each task of an array, and of a job that is none by ''."""
        out = self.run('scontrol', '-o', 'show', 'job', job).stdout
        states = {}
        for line in out.splitlines():
            fields = dict(word.split('=', 1) for word in line.split() if '=' in word)
            states[fields.get('ArrayTaskId', '')] = fields.get('JobState', '?')
        return states

    def steps(self):
        """Processes that nodes of this Slurm started: by the logs that they have open."""
        own = {os.getpid(), *(d.pid for d in self.daemons)}
        found = []
        for name in os.listdir('/proc'):
            if name.isdigit() and int(name) not in own:
                try:
                    fds = [os.readlink('/proc/%s/fd/%s' % (name, fd)) for fd in os.listdir('/proc/%s/fd' % name)]
                except OSError:
                    continue
                if any(path.startswith(self.dir + '/') for path in fds):
                    found.append(int(name))
        return found

    def __exit__(self, *_):
        """Ends the daemons, by their ids, and what they have started."""
        subprocess.run(['scancel', '--quiet', '--user=root'], env=self.env, capture_output=True, timeout=30)
        end = time.monotonic() + 15
        while self.daemons and self.steps() and time.monotonic() < end:
            time.sleep(0.5)
        for d in reversed(self.daemons):
            if d.poll() is None:
                d.send_signal(signal.SIGTERM)
        for d in self.daemons:
            try:
                d.wait(timeout=20)
            except subprocess.TimeoutExpired:
                d.kill()
                d.wait()
        for pid in self.steps():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if os.environ.get('KEEP'):
            print('kept: ' + self.dir)
        else:
            shutil.rmtree(self.dir, ignore_errors=True)
