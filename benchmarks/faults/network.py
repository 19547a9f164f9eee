"""A network of Linux namespaces on one machine, with delays, losses and cuts. It needs root.

Each machine is a network namespace whose only link is a TUN device. This process carries the packets between them, so
that no module of the kernel is needed for delays and losses.
"""

from __future__ import annotations

import ctypes
import fcntl
import heapq
import os
import random
import selectors
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

_TUNSETIFF = 0x400454CA
_IFF_TUN, _IFF_NO_PI = 0x0001, 0x1000
_CLONE_NEWNET = 0x40000000
_MTU = 1500
_QUEUE = 1000


@dataclass(frozen=True)
class Machine:
    """A namespace: its name, its address, and the device from which its packets are read."""

    name: str
    address: str
    device: int

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Move the calling thread to this machine. Sockets, threads and processes that it makes belong there."""
        with _inside(self.name):
            yield


class Network:
    """Carries packets between machines.

    Attributes:
        delay: Seconds that a packet takes in one direction.
        loss: The share of packets that get lost.
    """

    def __init__(self) -> None:
        self.delay = 0.0
        self.loss = 0.0
        self._machines: dict[bytes, Machine] = {}
        self._cuts: set[frozenset[str]] = set()
        self._chance = random.Random(15)  # noqa: S311 - not for secrets
        self._is_over = threading.Event()

    def cut(self, one: Machine, other: Machine) -> None:
        """Drop all packets between two machines."""
        self._cuts.add(frozenset((one.name, other.name)))

    def heal(self) -> None:
        """End all cuts."""
        self._cuts.clear()

    @contextmanager
    def machines(self, names: Sequence[str]) -> Iterator[list[Machine]]:
        """Make a machine of each name, and carry packets between them until the end."""
        prefix = f"pgclarify-{os.getpid()}"
        try:
            for number, name in enumerate(names, 1):
                machine = _make(f"{prefix}-{name}", f"10.77.0.{number}")
                self._machines[socket.inet_aton(machine.address)] = machine
            carrier = threading.Thread(target=self._carry, daemon=True)
            carrier.start()
            try:
                yield [*self._machines.values()]
            finally:
                self._is_over.set()
                carrier.join()
        finally:
            for machine in self._machines.values():
                os.close(machine.device)
                subprocess.run(["ip", "netns", "delete", machine.name], check=False)

    def _carry(self) -> None:
        underway: list[tuple[float, int, Machine, bytes]] = []
        numbers = count()
        with selectors.DefaultSelector() as selector:
            for machine in self._machines.values():
                selector.register(machine.device, selectors.EVENT_READ, machine)
            while not self._is_over.is_set():
                due = underway[0][0] - time.monotonic() if underway else 0.1
                for key, _ in selector.select(max(due, 0)):
                    with suppress(BlockingIOError):
                        for _ in range(64):
                            packet = os.read(key.fd, _MTU)
                            # Bytes 16 to 19 of a packet of IPv4 are the address where it goes.
                            target = self._machines.get(packet[16:20])
                            if target is not None and self._arrives(key.data, target):
                                arrival = time.monotonic() + self.delay
                                heapq.heappush(underway, (arrival, next(numbers), target, packet))
                while underway and underway[0][0] <= time.monotonic():
                    _, _, target, packet = heapq.heappop(underway)
                    # A full queue drops packets, as in any network.
                    with suppress(OSError):
                        os.write(target.device, packet)

    def _arrives(self, source: Machine, target: Machine) -> bool:
        return self._chance.random() >= self.loss and frozenset((source.name, target.name)) not in self._cuts


def _make(name: str, address: str) -> Machine:
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        return Machine(name, address, _connect(name, address))
    except BaseException:
        subprocess.run(["ip", "netns", "delete", name], check=False)
        raise


def _connect(name: str, address: str) -> int:
    with _inside(name):
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH", b"link", _IFF_TUN | _IFF_NO_PI))
        for words in (
            ("addr", "add", f"{address}/24", "dev", "link"),
            ("link", "set", "dev", "link", "mtu", str(_MTU), "txqueuelen", str(_QUEUE), "up"),
            ("link", "set", "dev", "lo", "up"),
        ):
            subprocess.run(["ip", *words], check=True)
    return device


@contextmanager
def _inside(name: str) -> Iterator[None]:
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        with Path("/run/netns", name).open() as namespace:
            _enter(namespace.fileno())
        yield
    finally:
        _enter(before)
        os.close(before)


def _enter(namespace: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(namespace, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")
