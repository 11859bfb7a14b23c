"""A SLURM of one node, this one, for a test: started as the current user, in a folder of its own, and ended with all it
started. It needs neither systemd nor control groups.
"""

from __future__ import annotations

import contextlib
import ctypes
import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
PATIENCE = 60.0

CONFIGURATION = """\
ClusterName=weft
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} RealMemory=512
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def tool(name: str) -> str:
    """A program of SLURM or munge; where it is absent the test fails."""
    found = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
    if found is None:
        raise AssertionError(f"{name} is not installed: apt-get install slurm-wlm munge")
    return found


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def children() -> list[int]:
    """Processes that this one must end: those it started, and those that were left to it."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[1]) == os.getpid():
                found.append(int(path.parent.name))
    return found


class SlurmNode:
    """`with SlurmNode(folder) as node:` node.environment makes sbatch and its kin use it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}
        self.processors = len(os.sched_getaffinity(0))
        self.daemons: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> SlurmNode:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Ends all processes, politely at first."""
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            user = getpass.getuser()
            subprocess.run([tool("scancel"), "-u", user], env=self.environment, check=False, timeout=10)
        for number in (signal.SIGTERM, signal.SIGKILL):
            deadline = time.monotonic() + 10
            while (found := children()) and time.monotonic() < deadline:
                for process in found:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, number)
                time.sleep(0.2)
                self._reap()

    def _reap(self) -> None:
        for daemon in self.daemons:
            daemon.poll()
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass

    def _run(self, *words: str) -> None:
        """Starts a daemon that stays in the foreground and ends with this process."""
        with (self.folder / f"{Path(words[0]).name}.out").open("w") as out:
            self.daemons.append(
                subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    env=self.environment,
                    start_new_session=True,
                    preexec_fn=lambda: ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM),
                )
            )

    def _start(self) -> None:
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(os.urandom(128))
        controller_port, node_port = free_ports(2)
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(
                host=socket.gethostname().split(".")[0],
                user=getpass.getuser(),
                folder=self.folder,
                processors=self.processors,
                controller_port=controller_port,
                node_port=node_port,
            )
        )
        munge = [f"--{name}={self.folder}/munge.{name.split('-')[0]}" for name in ("socket", "pid-file", "seed-file")]
        log = f"--log-file={self.folder}/munge.log"
        self._run(tool("munged"), "--foreground", "--force", f"--key-file={key}", log, *munge)
        self._wait((self.folder / "munge.socket").exists, "munged")
        self._run(tool("slurmctld"), "-D", "-c")
        self._run(tool("slurmd"), "-D", "-c")
        self._wait(lambda: self._asked("sinfo", "-h", "-o", "%T") == "idle", "SLURM")

    def _asked(self, name: str, *words: str) -> str:
        try:
            done = subprocess.run(
                [tool(name), *words], capture_output=True, text=True, env=self.environment, check=False, timeout=20
            )
        except subprocess.TimeoutExpired:
            return ""
        return done.stdout.strip()

    def _wait(self, ready: object, what: str) -> None:
        assert callable(ready)
        deadline = time.monotonic() + PATIENCE
        while not ready():
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} did not start:\n{self.logs()}")
            time.sleep(0.1)

    def logs(self) -> str:
        """The last lines of what the daemons said."""
        texts = []
        for path in sorted([*self.folder.glob("*.log"), *self.folder.glob("*.out")]):
            lines = path.read_text(errors="replace").splitlines()[-15:]
            texts.append("\n".join([f"-- {path.name}", *lines]))
        return "\n".join(texts)
