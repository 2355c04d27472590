# SPDX-License-Identifier: Apache-2.0
"""An accelerator with real queues, which raises where work is not ordered.

As on a real device, nothing is done when it is asked for: work waits in queues, and is done in any
order that queues and events allow, chosen at random. Each queue has a vector clock: how much of
every queue is known to be done before its next piece of work. Reading memory that another queue
writes, writing what another one reads, and freeing what another one uses, raise `Unordered` unless
an event is in between. Memory that nobody has written, or that was freed, holds garbage; so does
pinned host memory that a copy has been made from, once it is free again.
"""

from __future__ import annotations

import contextlib
import functools
import random
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

from daliesque._gpu.backend import TorchBackend

CPU = torch.device("cpu")
Clock = dict[str, int]


class Unordered(RuntimeError):
    """Two pieces of work on the same memory, of which none is known to come first."""


class Queue:
    """A queue of work on a device."""

    def __init__(self, name: str, device_id: int) -> None:
        self.name = name
        self.device_id = device_id
        self.clock: Clock = {name: 0}
        self.tasks: deque[tuple[Event | None, Callable[[], object] | None]] = deque()
        self.submitted = 0
        self.done = 0

    def __repr__(self) -> str:
        return self.name


class Event:
    """A point in a queue."""

    def __init__(self, queue: Queue) -> None:
        self.queue = queue
        self.position = queue.submitted
        self.clock = dict(queue.clock)

    @property
    def occurred(self) -> bool:
        return self.queue.done >= self.position


def joined(first: Clock, second: Clock) -> Clock:
    """What is known to somebody who knows both."""
    return {name: max(first.get(name, 0), second.get(name, 0)) for name in first | second}


class Block:
    """A piece of memory: in which queue it was allocated, and who works with it."""

    def __init__(self, machine: Machine, queue: Queue, memory: torch.Tensor) -> None:
        self.queue = queue
        self.written: tuple[Queue, int] | None = None
        self.read: dict[Queue, int] = {}
        # Queues that the allocator knows of: it waits for them before it gives the memory away.
        self.users: set[Queue] = set()
        weakref.finalize(self, _freed, machine, vars(self), memory)


def _freed(machine: Machine, block: dict[str, Any], memory: torch.Tensor) -> None:
    """Give memory back, as a caching allocator does: to later work in the queue it came from."""
    owner: Queue = block["queue"]
    used = dict(block["read"])
    if block["written"] is not None:
        writer, tick = block["written"]
        used[writer] = max(used.get(writer, 0), tick)
    for queue, tick in used.items():
        known = owner.clock.get(queue.name, 0) >= tick or machine.host.get(queue.name, 0) >= tick
        if queue is not owner and queue not in block["users"] and not known:
            machine.faults.append(f"memory of {owner} is freed while {queue} works with it")
    with machine.lock:
        # Where others use the memory, it is set aside until they are done; nobody waits.
        where = machine.set_aside if block["users"] else owner
        for queue in block["users"]:
            machine.submit(where, None, Event(queue))
        if where is not owner:
            machine.submit(where, None, Event(owner))
        machine.submit(where, lambda: _poison(memory), None)


def _poison(memory: torch.Tensor, value: int = 0xDD) -> None:
    with _disable_current_modes(), torch.inference_mode(False):
        bytes_of = torch.empty(0, dtype=torch.uint8).set_(memory.untyped_storage())
        bytes_of.fill_(value)


class CheckedTensor(torch.Tensor):
    """A tensor on the device; what it holds is known when the work that makes it has been done."""

    inner: torch.Tensor
    block: Block
    _device: torch.device
    machine: Machine

    @staticmethod
    def __new__(
        cls, inner: torch.Tensor, block: Block, device: torch.device, machine: Machine
    ) -> CheckedTensor:
        made: CheckedTensor = torch.Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls,
            inner.shape,
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device="meta",
        )
        made.inner, made.block, made._device, made.machine = inner, block, device, machine
        return made

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return self._device

    def data_ptr(self) -> int:
        return self.inner.data_ptr()

    def untyped_storage(self) -> Any:
        return self.inner.untyped_storage()

    @classmethod
    def __torch_dispatch__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        del types
        own = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, cls)]
        return own[0].machine.carry_out(function, args, kwargs or {})

    __torch_function__ = torch._C._disabled_torch_function_impl


class Machine:
    """Two devices, their queues, and the order in which things happen."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lock = threading.RLock()
        self.faults: list[str] = []
        self.queues: list[Queue] = []
        # What the host has waited for.
        self.host: Clock = {}
        self.defaults = [self.make(f"torch{number}", number) for number in range(2)]
        # Memory that is not free yet.
        self.set_aside = self.make("allocator", 0)
        self.local = threading.local()
        # Pinned memory, by address.
        self.pinned: dict[int, torch.Tensor] = {}
        # "<queue>: <operation>", for work that copies between host and device, and for events.
        self.log: list[str] = []

    def make(self, name: str, device_id: int) -> Queue:
        queue = Queue(name, device_id)
        self.queues.append(queue)
        return queue

    def current(self, device_id: int) -> Queue:
        chosen: dict[int, Queue] = getattr(self.local, "queues", {})
        return chosen.get(device_id, self.defaults[device_id])

    def check(self) -> None:
        """Raise what was found where nothing can be raised."""
        if self.faults:
            fault, self.faults = self.faults[0], []
            raise Unordered(fault)

    def submit(self, queue: Queue, task: Callable[[], object] | None, after: Event | None) -> int:
        """Put a piece of work into a queue."""
        with self.lock:
            queue.submitted += 1
            queue.tasks.append((after, task))
            queue.clock = joined(queue.clock, self.host)
            queue.clock[queue.name] = queue.submitted
            return queue.submitted

    def run_until(self, is_enough: Callable[[], bool]) -> None:
        """Do work in an order that is allowed, until it is enough."""
        with self.lock:
            while not is_enough():
                ready = [
                    queue
                    for queue in self.queues
                    if queue.tasks and (queue.tasks[0][0] is None or queue.tasks[0][0].occurred)
                ]
                assert ready, "all queues wait for each other"
                queue = self.random.choice(ready)
                _, task = queue.tasks.popleft()
                if task is not None:
                    with _disable_current_modes(), torch.inference_mode(False):
                        task()
                queue.done += 1

    def synchronize(self, queue: Queue) -> None:
        """Wait for a queue."""
        position = queue.submitted
        self.run_until(lambda: queue.done >= position)
        with self.lock:
            self.host = joined(self.host, queue.clock)
        self.check()

    def _note(self, queue: Queue, tick: int, block: Block, name: str, writes: bool) -> None:
        """Make sure that work with memory comes after the work it depends on."""
        others = dict(block.read) if writes else {}
        if block.written is not None:
            writer, when = block.written
            others[writer] = max(others.get(writer, 0), when)
        for other, when in others.items():
            if other is not queue and queue.clock.get(other.name, 0) < when:
                kind = "writes" if writes else "reads"
                msg = f"{name} in {queue} {kind} memory that {other} works with, without order"
                raise Unordered(msg)
        if writes:
            block.written, block.read = (queue, tick), {}
        else:
            block.read[queue] = tick

    def carry_out(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Put an operation into the current queue; what it gives is there at once, as promise."""
        self.check()
        name = function.overloadpacket.__name__
        leaves = tree_leaves((args, kwargs))
        own = [leaf for leaf in leaves if isinstance(leaf, CheckedTensor)]
        target = own[0].device if own else CPU
        if kwargs.get("device") is not None:
            target = torch.device(kwargs["device"])
            if target.type == "cuda" and target.index is None:
                target = torch.device("cuda", 0)
        into_host = name == "copy_" and not isinstance(args[0], CheckedTensor)
        if not own and target.type == "cpu":
            return function(*args, **kwargs)
        with self.lock:
            if own and (target.type == "cpu" or into_host or name == "_local_scalar_dense"):
                return self._read(function, name, args, kwargs, own[-1])
            number = target.index or 0
            queue = self.current(number)
            if _is_view(function):
                return self._view(function, args, kwargs, own[0])
            return self._work(function, name, queue, target, args, kwargs)

    def _view(self, function: Any, args: Any, kwargs: Any, base: CheckedTensor) -> Any:
        views = function(*tree_map(_inner, args), **tree_map(_inner, kwargs))
        return tree_map(
            lambda view: (
                CheckedTensor(view, base.block, base.device, self)
                if isinstance(view, torch.Tensor)
                else view
            ),
            views,
        )

    def _work(
        self, function: Any, name: str, queue: Queue, target: torch.device, args: Any, kwargs: Any
    ) -> Any:
        plain = {key: CPU if key == "device" else value for key, value in kwargs.items()}
        written = _written(function, args, kwargs)
        tick = queue.submitted + 1
        queue.clock = joined(queue.clock, self.host)
        mine: set[int] = set()
        for leaf in tree_leaves((args, kwargs)):
            if isinstance(leaf, CheckedTensor) and leaf is not written:
                self._note(queue, tick, leaf.block, name, False)
                mine.add(id(leaf.block))
        arguments = tree_map(_inner, args)
        options = tree_map(_inner, plain)
        verify = self._of_host(name, queue, args, kwargs)
        if verify is not None:
            arguments, options = verify.replace(arguments), verify.replace(options)
        if written is not None:
            self._note(queue, tick, written.block, name, True)
            self.submit(queue, lambda: _run(function, arguments, options, verify), None)
            return written
        promised = function(*tree_map(_meta, arguments), **tree_map(_meta, _on_meta(options)))
        outputs: list[torch.Tensor] = []

        def make(meta: Any) -> Any:
            if not isinstance(meta, torch.Tensor):
                return meta
            inner = torch.empty_strided(meta.shape, meta.stride(), dtype=meta.dtype)
            _poison(inner, 0xA5)
            outputs.append(inner)
            block = Block(self, queue, inner)
            block.written = (queue, tick)
            return CheckedTensor(inner, block, target, self)

        results = tree_map(make, promised)

        def task() -> None:
            made = _run(function, arguments, options, verify)
            for inner, result in zip(outputs, tree_leaves(made), strict=True):
                inner.copy_(result)

        self.submit(queue, None if name.startswith("empty") else task, None)
        return results

    def _of_host(self, name: str, queue: Queue, args: Any, kwargs: Any) -> Source | None:
        """The host memory that an operation copies from, if it does."""
        if name not in ("_to_copy", "copy_"):
            return None
        source = args[-1] if name == "copy_" else args[0]
        if isinstance(source, CheckedTensor) or not isinstance(source, torch.Tensor):
            return None
        later = bool(kwargs.get("non_blocking") or (name == "copy_" and len(args) > 2 and args[2]))
        is_pinned = source.untyped_storage().data_ptr() in self.pinned
        kind = "pinned" if is_pinned else "pageable"
        self.log.append(f"{queue}: upload of {source.nbytes} bytes from {kind} memory")
        return Source(source, later and is_pinned)

    def _read(self, function: Any, name: str, args: Any, kwargs: Any, source: CheckedTensor) -> Any:
        """Copy to the host: later if the target is pinned and the host does not wait."""
        queue = self.current(source.device.index or 0)
        tick = queue.submitted + 1
        queue.clock = joined(queue.clock, self.host)
        self._note(queue, tick, source.block, name, False)
        target = args[0] if name == "copy_" else None
        later = (len(args) > 2 and bool(args[2])) or bool(kwargs.get("non_blocking"))
        inner = source.inner
        self.log.append(f"{queue}: download of {inner.nbytes} bytes")
        if target is not None and target.untyped_storage().data_ptr() in self.pinned and later:
            _poison(target, 0xCC)
            self.submit(queue, functools.partial(target.copy_, inner), None)
            return target
        self.synchronize(queue)
        plain = {key: CPU if key == "device" else value for key, value in kwargs.items()}
        return function(*tree_map(_inner, args), **tree_map(_inner, plain))


class Source:
    """Host memory that a copy reads: at once, or when the copy is made."""

    def __init__(self, tensor: torch.Tensor, later: bool) -> None:
        self.tensor = tensor
        self.copy = tensor.clone()
        self.later = later

    def replace(self, tree: Any) -> Any:
        return tree_map(lambda leaf: self.copy if leaf is self.tensor else leaf, tree)

    def take(self) -> None:
        """What happens when the copy is made: from now on, others may use the memory."""
        if not self.later:
            return
        if not torch.equal(_bits(self.tensor), _bits(self.copy)):
            msg = "pinned memory was changed before the copy from it was made"
            raise Unordered(msg)
        _poison(self.tensor, 0xCC)


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().reshape(-1).view(torch.uint8)


def _run(function: Any, arguments: Any, options: Any, source: Source | None) -> Any:
    if source is not None:
        source.take()
    return function(*arguments, **options)


def _inner(value: Any) -> Any:
    return value.inner if isinstance(value, CheckedTensor) else value


def _meta(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    if value.ndim == 0:
        # Some operations look at numbers to find the type of their result.
        return torch.empty((), dtype=value.dtype, device="meta")
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")


def _on_meta(options: dict[str, Any]) -> dict[str, Any]:
    return {key: "meta" if key == "device" else value for key, value in options.items()}


def _is_view(function: Any) -> bool:
    if function.overloadpacket.__name__ in ("_unsafe_view", "lift_fresh"):
        return True
    returns = function._schema.returns
    aliases = [part.alias_info for part in returns if part.alias_info is not None]
    return bool(aliases) and not any(alias.is_write for alias in aliases)


def _written(function: Any, args: Any, kwargs: Any) -> CheckedTensor | None:
    """The argument that an operation changes."""
    for number, declared in enumerate(function._schema.arguments):
        if declared.alias_info is not None and declared.alias_info.is_write:
            value = args[number] if number < len(args) else kwargs.get(declared.name)
            if isinstance(value, CheckedTensor):
                return value
    return None


class _Mode(TorchDispatchMode):
    """Lets the machine take part in what is asked of torch."""

    def __init__(self, machine: Machine) -> None:
        super().__init__()
        self._machine = machine

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        del types
        return self._machine.carry_out(function, args, kwargs or {})


class CheckedQueues:
    """The queues of the machine, as the library sees them."""

    is_thread_safe = True
    are_many = True

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._made = 0

    def make(self, device_id: int) -> Queue:
        self._made += 1
        return self.machine.make(f"queue{self._made}", device_id)

    def wrap(self, handle: int, device_id: int, owner: Any = None) -> Queue:
        del handle, owner
        return self.make(device_id)

    def accepts(self, queue: Any) -> bool:
        return isinstance(queue, Queue)

    def current(self, device_id: int) -> Queue:
        return self.machine.current(device_id)

    def handle(self, queue: Queue) -> int:
        return id(queue)

    def on(self, device_id: int) -> contextlib.AbstractContextManager[int]:
        return contextlib.nullcontext(device_id)

    @contextlib.contextmanager
    def active(self, queue: Queue) -> Iterator[Queue]:
        local = self.machine.local
        outer: dict[int, Queue] = getattr(local, "queues", {})
        local.queues = {**outer, queue.device_id: queue}
        depth = getattr(local, "depth", 0)
        local.depth = depth + 1
        try:
            with _Mode(self.machine) if depth == 0 else contextlib.nullcontext():
                yield queue
        finally:
            local.queues, local.depth = outer, depth

    def mark(self, queue: Queue) -> Event:
        with self.machine.lock:
            return Event(queue)

    def has_occurred(self, event: Event) -> bool:
        return event.occurred

    def wait_for(self, queue: Queue, event: Event) -> None:
        with self.machine.lock:
            queue.clock = joined(queue.clock, event.clock)
            self.machine.submit(queue, None, event)
            self.machine.log.append(f"{queue} waits for {event.queue}")

    def use(self, queue: Queue, tensor: Any) -> None:
        if isinstance(tensor, CheckedTensor):
            tensor.block.users.add(queue)

    def synchronize(self, queue: Queue) -> None:
        self.machine.synchronize(queue)


class CheckedAccelerator(TorchBackend):
    """Two devices of the machine."""

    def __init__(self, seed: int = 0) -> None:
        self.machine = Machine(seed)
        super().__init__("cuda", 2, CheckedQueues(self.machine))
        self.selected = 0

    def current_id(self) -> int:
        return self.selected

    def staging(self, count: int) -> Any:
        with _disable_current_modes():
            buffer = torch.empty(max(count, 1), dtype=torch.uint8, device="cpu")
        _poison(buffer, 0xCC)
        self.machine.pinned[buffer.untyped_storage().data_ptr()] = buffer
        return buffer[:count]

    def mine(self, values: Any, device_id: int = 0) -> torch.Tensor:
        """A tensor of the user, made in torch's own queue."""
        with self.queues.active(self.machine.defaults[device_id]):
            made: torch.Tensor = torch.from_numpy(values).to(torch.device("cuda", device_id))
        return made
