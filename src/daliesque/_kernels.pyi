# SPDX-License-Identifier: Apache-2.0
# Written by tools/stubs.py.
"""
Native core: batches, buffers, threads and kernels. Not for direct use.
"""

from collections.abc import Callable, Sequence
import enum
from typing import Annotated, Any, overload

import numpy
import numpy.typing
from numpy.typing import NDArray

import daliesque._engine.samples


class Border(enum.Enum):
    """What stands for elements outside of an array."""

    constant = 0

    clamp = 1

    reflect_1001 = 2

    reflect_101 = 3

    wrap = 4

class InternalError(RuntimeError):
    """A fault of the library itself: please report it."""

class OutOfMemory(MemoryError):
    pass

class ThreadPool:
    def __init__(self, num_threads: int) -> None: ...

    @property
    def num_threads(self) -> int: ...

def set_default_pool(pool: ThreadPool) -> None: ...

def exchange_current_pool(pool: ThreadPool | None) -> ThreadPool:
    """
    Set this thread's pool (None: the default); returns the previous setting.
    """

def memory_info() -> dict[str, int]: ...

def set_memory_limit(bytes: int) -> None: ...

def is_main_interpreter() -> bool: ...

def available_memory() -> int: ...

def total_limit() -> int: ...

def set_total_limit(bytes: int) -> None: ...

def release_memory() -> None: ...

def reset_memory_peak() -> None: ...

def set_simd_enabled(enabled: bool, avx512: bool = True) -> None: ...

def instruction_sets() -> list[str]:
    """
    What the processor has beyond what every one of its kind has, as far as kernels use it.
    """

def current_pool() -> ThreadPool:
    """The pool that kernels called from this thread use."""

FLOAT32: int = 9

class Samples:
    def __len__(self) -> int: ...

    @property
    def type_id(self) -> int: ...

    @property
    def ndim(self) -> int: ...

    @property
    def layout(self) -> str: ...

    @property
    def itemsize(self) -> int: ...

    @property
    def volume(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

    @property
    def shapes(self) -> list[tuple[int, ...]]: ...

    def shape(self, index: int) -> tuple[int, ...]: ...

    def strides(self, index: int) -> list[int]:
        """Byte strides of a sample."""

    def shape_array(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """All shapes as an (N, ndim) int64 array."""

    @property
    def uniform(self) -> bool: ...

    @property
    def packed(self) -> bool: ...

    @property
    def contiguous(self) -> bool: ...

    @property
    def readonly(self) -> bool: ...

    @property
    def external(self) -> bool: ...

    @property
    def kernels(self) -> daliesque._engine.samples.Kernels: ...

    def pointer(self, index: int) -> int: ...

    def select(self, indices: Sequence[int]) -> Samples: ...

    def between(self, begin: int, end: int) -> Samples:
        """The samples from one to another."""

    def sample(self, index: int) -> Samples: ...

    def with_layout(self, layout: str) -> Samples: ...

    def as_internal(self) -> Samples: ...

    def unfold(self) -> Samples: ...

    def fold(self, counts: Sequence[int], layout: str) -> Samples: ...

    @overload
    def reshape(self, shapes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], layout: str) -> Samples: ...

    @overload
    def reshape(self, type_id: int, shapes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], layout: str) -> Samples: ...

    def stack_view(self) -> Samples: ...

    def flat_view(self) -> Samples:
        """One vector of all elements of all samples, which are packed."""

    def reinterpret(self, type_id: int) -> Samples: ...

    def slice(self, ranges: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], dropped: Sequence[bool], layout: str) -> Samples: ...

    @staticmethod
    def pick(parts: list[Samples], which: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], copied: bool = False) -> Samples:
        """
        Samples of several parts, in their memory or in a buffer of their own: for each which has it, and where.
        """

    def copy(self) -> Samples:
        """A contiguous copy in one buffer from the pool."""

    def padded(self) -> Samples:
        """A uniform copy, zero-padded to the largest extents."""

    @overload
    def empty_like(self) -> Samples: ...

    @overload
    def empty_like(self, type_id: int) -> Samples: ...

    is_on_device: bool = False

def empty(type_id: int, shapes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], layout: str, count: int) -> Samples:
    """Uninitialized samples; `shapes` is (count, ndim) or (1, ndim)."""

def empty_uniform(type_id: int, shape: Sequence[int], layout: str, count: int) -> Samples: ...

def join(parts: list[Samples]) -> Samples:
    """The samples of several Samples, without copying."""

class PlanSource(Samples):
    """Samples that kernels plan to process, and do not yet."""

    def __init__(self, samples: Samples) -> None: ...

class PlannedSamples:
    """Samples that do not exist yet, and what is known about them."""

    def __len__(self) -> int: ...

    @property
    def type_id(self) -> int: ...

    @property
    def ndim(self) -> int: ...

    @property
    def layout(self) -> str: ...

    @property
    def shapes(self) -> list[tuple[int, ...]]: ...

    def shape_array(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]: ...

    @property
    def nbytes(self) -> int: ...

    @property
    def uniform(self) -> bool: ...

    @property
    def contiguous(self) -> bool: ...

    @property
    def kernels(self) -> daliesque._engine.samples.Kernels: ...

    def with_layout(self, layout: str) -> PlannedSamples: ...

    def make(self) -> Samples:
        """Run all kernels, sample by sample."""

    is_on_device: bool = False

def cast(samples: Samples, type_id: int) -> Samples:
    """Convert to another type, rounding and clamping."""

def read_big_endian(type_id: int, shapes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', writable=False)], bytes: Samples, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Samples:
    """Arrays that begin at an offset of each sample of bytes."""

def copy_rows(table: Samples, begins: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Samples:
    """Some consecutive rows of a table for each sample."""

def wrap_buffer(buffer: object, type_id: int, layout: str) -> Samples:
    """One sample over the memory of an object with the buffer protocol."""

def wrap_buffers(buffers: Sequence[Any], type_id: int, layout: str) -> Samples:
    """
    One sample over the memory of each object, which must agree in the number of axes.
    """

def numpy_view(samples: Samples, index: int) -> Any:
    """
    Sample `index` as a NumPy array over the same memory (bfloat16 as uint16).
    """

def to_dlpack(samples: Samples, versioned: bool, copied: bool) -> object:
    """The first sample as a DLPack capsule."""

def from_dlpack(capsule: object) -> Samples:
    """One sample over the memory of a DLPack capsule."""

class ArrowForm(enum.Enum):
    """How samples are the rows of an Arrow column."""

    numbers = 0

    fixed_lists = 1

    lists = 2

    large_lists = 3

    bytes = 4

    large_bytes = 5

    tensors = 6

    large_tensors = 7

class ArrowColumn:
    """A column of an Arrow array, or of a field of one."""

    def __len__(self) -> int: ...

    def field(self, index: int) -> ArrowColumn:
        """The rows of a field of structs."""

    def dictionary(self) -> ArrowColumn:
        """What indices refer to."""

    def first_missing(self, formats: Sequence[str]) -> int:
        """The first row in which a value is missing; -1 if there is none."""

    def samples(self, formats: Sequence[str], type_id: int) -> Samples:
        """
        The rows as samples; the formats are those of the nested lists, and of the values.
        """

    def integers(self, format: str) -> list[int]:
        """The rows as numbers."""

def import_arrow_array(capsule: object) -> ArrowColumn:
    """Take over the array of a capsule, which is empty afterwards."""

def read_arrow_schema(capsule: object) -> tuple[Any, ...]:
    """Format, name, metadata, children and dictionary of a type."""

def read_arrow_stream(capsule: object) -> tuple[tuple[Any, ...], list[ArrowColumn]]:
    """The type and all arrays of a stream."""

def export_arrow_schema(field: tuple[Any, ...]) -> Any:
    """A capsule of a type that is described as `read_arrow_schema` does."""

def export_arrow_array(samples: Samples, form: ArrowForm) -> Any:
    """A capsule of packed samples."""

class Alarm:
    """Wakes the background thread of a queue."""

    def __init__(self) -> None: ...

    def wait(self) -> None:
        """Sleep until a queue rings."""

class CallQueue:
    """The calls of a context that are not done, in order."""

    def __init__(self, find_chain: Any) -> None: ...

    def put(self, call: object) -> bool: ...

    def wait(self, call: object) -> None: ...

    def run_here(self, call: object) -> None: ...

    def drain(self) -> None: ...

    def serve(self) -> bool: ...

    def begin_service(self, alarm: Alarm) -> bool: ...

    def end_service(self) -> None: ...

    def fall_asleep(self) -> bool: ...

    def stop(self) -> None: ...

    def after_fork(self) -> None: ...

    @property
    def needs_thread(self) -> bool: ...

    @property
    def is_full(self) -> bool: ...

    @property
    def is_idle(self) -> bool: ...

    @property
    def nbytes(self) -> int: ...

def settle(call: object, results: object | None, failure: object | None) -> None:
    """Make a call done, with its results or its failure."""

def become_chain(call: object, chain: object) -> None:
    """Make a call stand for a chain of calls of which it is the last."""

def inside_call() -> bool:
    """Whether this thread is inside a call."""

def call_with_pool(pool: ThreadPool | None, function: Any, *args: Any) -> Any: ...

def call_inside(stack: list[Any], context: Any, function: Any, *args: Any) -> Any:
    """Call a function as part of a call that runs elsewhere."""

def set_most_queued_bytes(bytes: int) -> int:
    """Set how many bytes calls of a queue may hold; returns what it was."""

def queued_bytes() -> int: ...

class Channel:
    """Items from a thread that makes them ahead to one that takes them."""

    def __init__(self, depth: int, most_bytes: int | None = None) -> None: ...

    def reserve(self) -> bool: ...

    def put(self, item: object, nbytes: int | None) -> None: ...

    def pull(self, iterator: Any, size_of: Any) -> None: ...

    def front(self) -> Any: ...

    def drop(self) -> None: ...

    def finish(self, failure: object | None) -> None: ...

    def rest(self) -> None: ...

    def resume(self) -> None: ...

    @property
    def rested(self) -> bool: ...

    def close(self) -> None: ...

    def capacity(self) -> tuple[int, int]: ...

    def begin_service(self, alone: bool) -> bool: ...

    @property
    def served(self) -> bool: ...

    @property
    def closed(self) -> bool: ...

    @property
    def needs_pull(self) -> bool: ...

    @property
    def broken(self) -> bool: ...

class Job:
    """Numbers that several threads process, each once."""

    def __init__(self, count: int) -> None: ...

    def take(self) -> int: ...

    def finish(self, number: int, error: object | None) -> None: ...

    def wait(self) -> BaseException | None: ...

    def close(self) -> None: ...

def set_most_bytes_ahead(bytes: int) -> int:
    """Set how many bytes a channel may hold; returns what it was."""

def bytes_ahead() -> int: ...

class Mutex:
    """
    What threads that call functions of an object wait for: `two_phase`, `call_locked`.
    """

    def __init__(self) -> None: ...

    def try_enter(self) -> bool: ...

    def leave(self) -> None: ...

class two_phase:
    """A method that prepares what is then done as a whole."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call self as a function."""

    def __get__(self, item: Any, owner: Any = ...) -> Any:
        """Return an attribute of instance, which is of type owner."""

    def __init__(self, prepare: object) -> None: ...

class StackMethod:
    """`__enter__` or `__exit__` of what a thread has a stack of."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call self as a function."""

    def __get__(self, item: Any, owner: Any = ...) -> Any:
        """Return an attribute of instance, which is of type owner."""

    def __init__(self, holder: object, name: object, enters: bool) -> None: ...

class ContextExit:
    """`__exit__` of contexts."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call self as a function."""

    def __get__(self, item: Any, owner: Any = ...) -> Any:
        """Return an attribute of instance, which is of type owner."""

    def __init__(self, holder: object) -> None: ...

def carry_out(steps: tuple[Any, ...]) -> None:
    """Call functions, each with its arguments, as one step."""

def call_locked(mutex: Mutex, function: Any, *args: Any) -> Any:
    """Call a function that no other thread is in meanwhile."""

def call_within(stack: list[Any], top: Any, function: Any, *args: Any) -> Any:
    """Call a function while something is on top of a stack."""

def call_with_attribute(target: Any, name: str, meanwhile: Any, function: Any, *args: Any) -> Any:
    """Call a function while an attribute has another value."""

def store_result(target: Any, name: str, function: Any, *args: Any) -> None:
    """Call a function and set an attribute to what it returns, as one step."""

def run_body(name: str, body: Any, inputs: list[Any], arguments: dict[str, Any]) -> Any:
    """Call the body of a call, which counts for its name."""

def run_under(name: str, reader: bool, calls: int, function: Any, *args: Any) -> Any:
    """Call a function that counts for a name, as so many calls."""

def read_file(function: Any, *args: Any) -> Any:
    """Call a function that reads a file."""

def count_calls(name: str, reader: bool, calls: int, samples: int, bytes: int) -> None:
    """Count calls without their time."""

def count_inside() -> None:
    """
    Count nothing for the body that is running: what it consists of counts.
    """

def wait_ahead(function: Any, *args: Any) -> Any:
    """Call a function that waits until the consumer has taken something."""

def set_thread_role(role: str) -> None:
    """Say that the calling thread works in the background, and what for."""

class Team:
    """Threads of Python that share the work of a call."""

    def __init__(self) -> None: ...

    def call(self, function: Any, *args: Any) -> Any: ...

    def end(self) -> None: ...

class PaceKind(enum.Enum):
    """Who makes the steps of a loop, and when."""

    plain = 0

    ahead = 1

    replay = 2

class Pace:
    """The steps of a loop, as its consumer sees them."""

    def __init__(self, kind: PaceKind) -> None: ...

    def arrive(self) -> None: ...

    def depart(self, samples: int) -> None: ...

def current_name() -> str:
    """The name that the calling thread counts for."""

def read_meters() -> dict[str, Any]:
    """All counts so far."""

class TraceKind(enum.Enum):
    """What an event of a trace is."""

    call = 0

    run = 1

    loop = 2

    file = 3

    wait = 4

    read = 5

    device = 6

class TraceFlow(enum.Enum):
    """What an event is for the way of a call."""

    none = 0

    begins = 1

    goes_on = 2

    ends = 3

def begin_trace(path: str, capacity: int) -> int:
    """Begin to write a trace; returns 0, or errno."""

def end_trace() -> tuple[int, int, int]:
    """
    End the trace; returns how many events there are, how many were left out, and errno.
    """

def begin_call(site: str | None) -> int:
    """Note that this thread is about to make a call; returns its number."""

def end_call(name: str, begin: int) -> None:
    """Note that the call is made that was begun last."""

def traced_events() -> int:
    """How many events of the trace are written."""

def clock_now() -> int:
    """Nanoseconds of the clock that traces use."""

def trace_event(kind: TraceKind, name: str, site: str | None, begin: int, end: int, number: int, flow: TraceFlow, row: str | None) -> None:
    """
    Note something in the trace, in a row of its own or in that of the calling thread.
    """

class PlanTable:
    """Plans of calls, for calls with other data."""

    def __init__(self, body: Any, defaults: dict[str, Any], types: tuple[type, ...], constants: dict[int, Any]) -> None: ...

    def run(self, inputs: list[Any], count: int, arguments: dict[str, Any]) -> Samples | None:
        """The result of a call, if there is a plan for it."""

    def note(self, input: Any, arguments: dict[str, Any]) -> None:
        """Learn that a call was made, so that the next one like it has a plan."""

class PhiloxState:
    """A position in the stream of a generator."""

    @staticmethod
    def parse(text: str) -> PhiloxState: ...

    def from_sample(self, index: int) -> PhiloxState:
        """
        The state of the same call for a part of a batch that begins at a sample.
        """

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def __getstate__(self) -> str: ...

    def __setstate__(self, arg: str, /) -> None: ...

    def __eq__(self, arg: object, /) -> bool: ...

    def __hash__(self) -> int: ...

class Philox:
    @overload
    def __init__(self, seed: int) -> None: ...

    @overload
    def __init__(self, state: PhiloxState) -> None: ...

    def next(self) -> int: ...

    def skip(self, draws: int) -> None: ...

    def state(self) -> PhiloxState: ...

    def draw_operator_state(self) -> PhiloxState:
        """Takes the words that one call of a random operator takes."""

def shuffle_indices(indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], seed: int, wide: bool) -> None:
    """
    std::shuffle in place, with a std::mt19937 or, if `wide`, a std::mt19937_64.
    """

class MinStd:
    """std::default_random_engine, from a std::seed_seq."""

    def __init__(self, seed: int) -> None: ...

    def below(self, count: int) -> int:
        """A random integer in [0, count - 1]."""

    @property
    def state(self) -> int: ...

    @state.setter
    def state(self, arg: int, /) -> None: ...

    def shuffle_nearby(self, indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], reach: int) -> None:
        """
        Pass the indices, in place, through a buffer of `reach` from which random ones come.
        """

def uniform(out: Samples, state: PhiloxState, range: numpy.typing.NDArray[Any]) -> None: ...

def uniform_values(out: Samples, state: PhiloxState, values: Samples) -> None: ...

def normal(out: Samples, state: PhiloxState, mean: numpy.typing.NDArray[Any], stddev: numpy.typing.NDArray[Any]) -> None: ...

def coin_flip(out: Samples, state: PhiloxState, probability: numpy.typing.NDArray[Any]) -> None: ...

def beta(out: Samples, state: PhiloxState, alpha: numpy.typing.NDArray[Any], beta: numpy.typing.NDArray[Any]) -> None: ...

def choice(out: Samples, state: PhiloxState, entries: Samples, weights: Samples | None) -> None: ...

def batch_permutation(out: Samples, state: PhiloxState, repetitions: bool, no_fixed_points: bool) -> None: ...

def roi_random_crop(out: Samples, state: PhiloxState, crop: numpy.typing.NDArray[Any], roi_start: numpy.typing.NDArray[Any], roi_shape: numpy.typing.NDArray[Any], input_shape: numpy.typing.NDArray[Any] | None) -> None: ...

def arithmetic(name: str, operands: list[Samples]) -> Samples:
    """Apply an element-wise operation to one to three Samples, broadcasting."""

def arithmetic_expression(names: list[str], operands: list[list[int]], inputs: list[Samples]) -> Samples:
    """
    Apply operations to contiguous inputs, by their numbers, and to what the operations before have made, whose numbers follow; returns what the last one makes.
    """

def arithmetic_type(name: str, type_ids: Sequence[int]) -> int:
    """The type id of the result of an element-wise operation."""

class WindowFault:
    """Why windows cannot be made."""

    class Kind(enum.Enum):
        none = 0

        two_sizes = 1

        negative_size = 2

        position = 3

        order = 4

        outside = 5

        axis_range = 6

        axis_twice = 7

    @property
    def kind(self) -> WindowFault.Kind: ...

    @property
    def sample(self) -> int: ...

    @property
    def axis(self) -> int: ...

    @property
    def value(self) -> float: ...

def crop_windows(shapes: numpy.typing.NDArray[Any], layout: str, crop: numpy.typing.NDArray[Any] | None, depth: numpy.typing.NDArray[Any], height: numpy.typing.NDArray[Any], width: numpy.typing.NDArray[Any], x: numpy.typing.NDArray[Any], y: numpy.typing.NDArray[Any], z: numpy.typing.NDArray[Any], truncate: bool) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None, None))], WindowFault | None]: ...

def slice_windows(shapes: numpy.typing.NDArray[Any], axes: numpy.typing.NDArray[Any], begin: numpy.typing.NDArray[Any] | None, end: numpy.typing.NDArray[Any] | None, size: numpy.typing.NDArray[Any] | None, relative: tuple[bool, bool, bool], single_precision: bool) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None, None))], WindowFault | None]: ...

def fit_windows(anchors: numpy.typing.NDArray[Any], extents: numpy.typing.NDArray[Any], shapes: numpy.typing.NDArray[Any], trim: bool) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None, None))], WindowFault | None]: ...

def pad_windows(shapes: numpy.typing.NDArray[Any], axes: numpy.typing.NDArray[Any], extents: numpy.typing.NDArray[Any] | None, align: numpy.typing.NDArray[Any] | None) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None, None))], WindowFault | None]: ...

def concatenate(parts: list[Samples], axis: int, layout: str) -> Samples:
    """Samples joined along an axis."""

def fill(out: Samples, values: Samples) -> None:
    """Broadcast values to the output."""

def one_hot(input: Samples, type_id: int, shapes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], layout: str, axis: int, values: Samples) -> Samples:
    """
    `axis` is the new one of `shapes`; `values` are that of the class and others.
    """

class Reduction(enum.Enum):
    """What is computed along axes."""

    sum = 0

    mean = 1

    mean_square = 2

    rms = 3

    variance = 4

    std_dev = 5

    min = 6

    max = 7

def reduce(samples: Samples, kind: Reduction, type_id: int, reduced: Sequence[bool], keep_dims: bool, layout: str, means: Samples | None, ddof: int) -> Samples: ...

def slice(samples: Samples, type_id: int, anchors: numpy.typing.NDArray[Any], shapes: numpy.typing.NDArray[Any], border: Border, fill: numpy.typing.NDArray[Any], channel_axis: int) -> Samples:
    """A window of each sample, which may leave it."""

def transpose(samples: Samples, permutation: Sequence[int], layout: str) -> Samples: ...

def normalize(samples: Samples, type_id: int, means: Samples | None, factors: Samples | None, reduced: Sequence[bool], batch: bool, ddof: int, epsilon: float, scale: float, shift: float) -> Samples:
    """(samples - mean) * factor + shift; what is None is computed."""

def deviation_factors(deviations: Samples, epsilon: float, scale: float) -> Samples:
    """What normalize multiplies with, for given deviations."""

def look_up(samples: Samples, table: Samples, otherwise: Samples) -> Samples:
    """The entries of a table at the indices that the samples hold."""

def brightness_contrast(samples: Samples, type_id: int, brightness: numpy.typing.NDArray[Any], shift: numpy.typing.NDArray[Any], contrast: numpy.typing.NDArray[Any], center: numpy.typing.NDArray[Any] | None) -> Samples: ...

def color_twist(samples: Samples, type_id: int, hue: numpy.typing.NDArray[Any], saturation: numpy.typing.NDArray[Any], value: numpy.typing.NDArray[Any], brightness: numpy.typing.NDArray[Any], contrast: numpy.typing.NDArray[Any]) -> Samples: ...

def convert_color_space(samples: Samples, target: int, source: int) -> Samples: ...

def equalize(samples: Samples, outer: int) -> Samples: ...

def clahe(samples: Samples, tiles_x: int, tiles_y: int, clip_limit: float, luma_only: bool) -> Samples: ...

class Demosaic(enum.Enum):
    """How colors are made of a mosaic."""

    bilinear = 0

    edge_aware = 1

    variable_gradients = 2

    gray = 3

def debayer(out: Samples, samples: Samples, blue_position: numpy.typing.NDArray[Any], algorithm: Demosaic) -> None: ...

def erase(samples: Samples, offsets: numpy.typing.NDArray[Any], bounds: numpy.typing.NDArray[Any], fill: numpy.typing.NDArray[Any], channel_axis: int) -> Samples:
    """
    `bounds` holds begins and ends of regions, those of sample i from offsets[i] on.
    """

def grid_mask(samples: Samples, tile: numpy.typing.NDArray[Any], ratio: numpy.typing.NDArray[Any], angle: numpy.typing.NDArray[Any], shift_x: numpy.typing.NDArray[Any], shift_y: numpy.typing.NDArray[Any]) -> Samples: ...

def multi_paste(inputs: Sequence[Samples], type_id: int, shapes: numpy.typing.NDArray[Any], offsets: numpy.typing.NDArray[Any], patches: numpy.typing.NDArray[Any]) -> Samples:
    """
    `patches` holds input, sample, anchor, size and target anchor of parts, those of sample i from offsets[i] on.
    """

class Rank(enum.Enum):
    """Which of the values of a window is taken."""

    smallest = 0

    median = 1

    largest = 2

def gaussian_blur(samples: Samples, type_id: int, axes: tuple[int, int, bool], sigma: numpy.typing.NDArray[Any], window_size: numpy.typing.NDArray[Any]) -> Samples: ...

def laplacian(samples: Samples, type_id: int, axes: tuple[int, int, bool], window_size: numpy.typing.NDArray[Any], smoothing_size: numpy.typing.NDArray[Any] | None, scale: numpy.typing.NDArray[Any], normalized: bool) -> Samples: ...

def filter(out: Samples, samples: Samples, axes: tuple[int, int, bool], kernels: Samples, anchor: numpy.typing.NDArray[Any], border: Border, fill: numpy.typing.NDArray[Any]) -> None: ...

def rank_filter(samples: Samples, axes: tuple[int, int, bool], rank: Rank, window: numpy.typing.NDArray[Any], anchor: numpy.typing.NDArray[Any], border: Border) -> Samples: ...

def gaussian_noise(samples: Samples, state: PhiloxState, mean: numpy.typing.NDArray[Any], stddev: numpy.typing.NDArray[Any]) -> Samples: ...

def salt_and_pepper_noise(samples: Samples, state: PhiloxState, probability: numpy.typing.NDArray[Any], salt_vs_pepper: numpy.typing.NDArray[Any], salt: numpy.typing.NDArray[Any] | None, pepper: numpy.typing.NDArray[Any] | None, channel_axis: int) -> Samples: ...

def shot_noise(samples: Samples, state: PhiloxState, factor: numpy.typing.NDArray[Any]) -> Samples: ...

def flip(samples: Samples, horizontal: numpy.typing.NDArray[Any], vertical: numpy.typing.NDArray[Any], depthwise: numpy.typing.NDArray[Any]) -> Samples:
    """Samples mirrored along the axes W, H and D whose flags are set."""

def crop_mirror_normalize(samples: Samples, type_id: int, anchors: numpy.typing.NDArray[Any], shapes: numpy.typing.NDArray[Any], permutation: Sequence[int], layout: str, mirror: numpy.typing.NDArray[Any], mean: numpy.typing.NDArray[Any], std: numpy.typing.NDArray[Any], scale: float, shift: float, fill: numpy.typing.NDArray[Any], width_axis: int, channel_axis: int) -> Samples: ...

def random_crop(state: PhiloxState, sizes: numpy.typing.NDArray[Any], aspect: tuple[float, float], area: tuple[float, float], attempts: int) -> tuple[Samples, Samples]:
    """
    Anchors and shapes of random windows in images of the given (height, width).
    """

class WarpInterp(enum.Enum):
    """How pixels between pixels are made."""

    nearest = 0

    linear = 1

    cubic = 2

def warp_affine(samples: Samples, type_id: int, sizes: numpy.typing.NDArray[Any], matrices: numpy.typing.NDArray[Any], interp: WarpInterp, border: Border, fill: Sequence[float]) -> Samples: ...

def warp_perspective(samples: Samples, sizes: numpy.typing.NDArray[Any], matrices: numpy.typing.NDArray[Any], interp: WarpInterp, border: Border, fill: Sequence[float]) -> Samples: ...

def warp_map(samples: Samples, x: Samples, y: Samples, sizes: numpy.typing.NDArray[Any], shift: float, interp: WarpInterp) -> Samples:
    """Pixels from the positions that two arrays of coordinates name."""

def sphere(samples: Samples, mask: numpy.typing.NDArray[Any], interp: WarpInterp, fill: float) -> Samples: ...

def jitter(samples: Samples, state: PhiloxState, mask: numpy.typing.NDArray[Any], degree: int) -> Samples: ...

def water(samples: Samples, mask: numpy.typing.NDArray[Any], interp: WarpInterp, fill: float, x: Sequence[float], y: Sequence[float]) -> Samples:
    """`x` and `y` are waves: amplitude, frequency and phase."""

class Curve(enum.Enum):
    """Functions of a value with parameters a and b."""

    invert = 0

    solarize = 1

    add_below = 2

    posterize = 3

    gamma = 4

    shift = 5

def apply_curve(samples: Samples, curve: Curve, parameters: numpy.typing.NDArray[Any], outer: int) -> Samples:
    """Rows of `parameters` have 2 values, or 2 for each channel."""

class AugmentStep(enum.Enum):
    """What a step of augment() does."""

    none = 0

    move = 1

    brightness = 2

    contrast = 3

    color = 4

    sharpness = 5

    posterize = 6

    solarize = 7

    add_below = 8

    invert = 9

    equalize = 10

    autocontrast = 11

def augment(samples: Samples, kinds: numpy.typing.NDArray[Any], parameters: numpy.typing.NDArray[Any], matrices: numpy.typing.NDArray[Any], interp: WarpInterp, border: Border, fill: Sequence[float]) -> Samples:
    """
    Rows have an entry for each step: a number, two parameters and six values of a matrix.
    """

def autocontrast(samples: Samples, outer: int) -> Samples: ...

def mean_contrast(samples: Samples, factor: numpy.typing.NDArray[Any]) -> Samples: ...

def mix(inputs: Sequence[Samples], weights: numpy.typing.NDArray[Any]) -> Samples: ...

def overlay(samples: Samples, over: Samples, mask: Samples) -> Samples: ...

def reorder_channels(samples: Samples, order: numpy.typing.NDArray[Any]) -> Samples: ...

def warp_flow(samples: Samples, flow: Samples, scale: numpy.typing.NDArray[Any], interp: WarpInterp, border: Border, fill: Sequence[float]) -> Samples: ...

def warp_grid(samples: Samples, nodes: Samples, interp: WarpInterp, border: Border, fill: Sequence[float]) -> Samples: ...

class ResizeGeometry:
    """Where axes are sampled: a row for each sample or one for all."""

    @staticmethod
    def find(shapes: numpy.typing.NDArray[Any], first_axis: int, axes: int, sizes: numpy.typing.NDArray[Any], roi_start: numpy.typing.NDArray[Any] | None, roi_end: numpy.typing.NDArray[Any] | None, roi_relative: bool, max_size: Sequence[float] | None, alignment: numpy.typing.NDArray[Any] | None, mode: int, rounding: int, subpixel_scale: bool) -> ResizeGeometry:
        """Complete and round sizes, and find the regions that they are for."""

    @staticmethod
    def of(sizes: numpy.typing.NDArray[Any], starts: numpy.typing.NDArray[Any], ends: numpy.typing.NDArray[Any]) -> ResizeGeometry: ...

    @property
    def sizes(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None), writable=False)]: ...

    @property
    def starts(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)]: ...

    @property
    def ends(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None), writable=False)]: ...

    def find_unusable(self) -> int:
        """
        The first row that holds too large a size or no finite number; -1 if none.
        """

def resize(samples: Samples, type_id: int, first_axis: int, geometry: ResizeGeometry, min_filters: numpy.typing.NDArray[Any], mag_filters: numpy.typing.NDArray[Any], antialias: bool) -> Samples:
    """Resample the axes of the geometry, from `first_axis` on."""

def resample_taps(extents: numpy.typing.NDArray[Any], geometry: ResizeGeometry, min_filters: numpy.typing.NDArray[Any], mag_filters: numpy.typing.NDArray[Any], antialias: bool) -> list[tuple[NDArray[numpy.int64], NDArray[numpy.float32]]]:
    """
    For each axis, the first inputs and the weights of the outputs of each sample.
    """

def jpeg_info(data: bytes) -> dict[str, Any]:
    """What the header says."""

def jpeg_decode(data: bytes, output_type: str = 'RGB', fancy: bool = True, fast_idct: bool = False, region: tuple[int, int, int, int] | None = None, max_pixels: int = 1073741824) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None))] | None, str, str]:
    """
    One image, its status and a message; only the tests of the decoder call it.
    """

def jpeg_distortion(samples: Samples, quality: numpy.typing.NDArray[Any]) -> Samples: ...

class EncodedImage:
    """What the header of an encoded image says."""

    class Kind(enum.Enum):
        ours = 0
        """An image that `decode_images` decodes itself."""

        other_jpeg = 1
        """A JPEG for another codec."""

        other = 2
        """Not of a format that is read natively."""

        broken = 3
        """An image without a usable header."""

    @property
    def kind(self) -> EncodedImage.Kind: ...

    @property
    def is_jpeg(self) -> bool:
        """Whether it is a JPEG with a usable header."""

    @property
    def height(self) -> int:
        """As stored."""

    @property
    def width(self) -> int:
        """As stored."""

    @property
    def channels(self) -> int: ...

    @property
    def orientation(self) -> int:
        """EXIF, 1 to 8."""

    @property
    def fault(self) -> str:
        """What is wrong with the header, if anything."""

class ImageHeaders:
    """The headers of a batch of encoded images."""

    def __init__(self, encoded: Samples) -> None:
        """Reads those of formats that are read natively."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> EncodedImage: ...

    def set(self, index: int, height: int, width: int, channels: int, orientation: int) -> None:
        """Completes the header of a file of another format."""

    def ignore_orientation(self) -> None: ...

    def find(self, kind: EncodedImage.Kind) -> list[int]:
        """The indices of the images of a kind."""

    def find_too_large(self, most_pixels: float) -> int | None:
        """
        The first image with more pixels; four channels more count as another one.
        """

    def upright_shapes(self) -> NDArray[Any]:
        """Height, width and channels with the orientation applied."""

class DecodeFailure:
    """An image that could not be decoded."""

    @property
    def reason(self) -> str: ...

    @property
    def is_final(self) -> bool:
        """Whether no other codec should try."""

def reduce_windows(headers: ImageHeaders, windows: NDArray[Any], hints: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """
    Windows of images that are made smaller, if they can be, so far that the windows still have the height and width in `hints`; and the factors: 1, 2, 4 or 8.
    """

def decode_images(encoded: Samples, headers: ImageHeaders, windows: NDArray[Any], reductions: NDArray[Any], image_type: int, type_id: int, fast_idct: bool, decode_other: Callable[[Samples, int, DecodeFailure | None], None], memory: Samples | None = None) -> Samples:
    """
    Windows of images. What is of no native format, or cannot be decoded, is for `decode_other`, which gets a batch of one to fill in, the number of the image, and what went wrong. With `memory`, they are written there.
    """

class GrayRule(enum.Enum):
    """How gray is computed from red, green and blue."""

    float = 0

    truncate = 1

    fixed14 = 2

    fixed15 = 3

    png = 4

class CmykRule(enum.Enum):
    """How CMYK is stored and converted to RGB."""

    plain = 0

    inverted = 1

    shifted = 2

def write_pixels(out: Samples, index: int, pixels: NDArray[Any], gray_rule: GrayRule, orientation: int, window: Sequence[int], image_type: int) -> None:
    """Write a window of decoded pixels into a sample."""

def image_format(file: bytes) -> str:
    """
    The name of the format, if it is one that is read natively and no JPEG.
    """

def exif_orientation(block: bytes) -> int:
    """The orientation (1 to 8) in a block of EXIF data."""

def cmyk_to_rgb(cmyk: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, 4), order='C', device='cpu', writable=False)], rule: CmykRule) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None, 3))]:
    """RGB of CMYK."""

def image_texts(images: Samples) -> Samples:
    """Images as the text of PGM or PPM files."""

def write_video_frame(out: Samples, sample: int, row: int, y: memoryview, u: memoryview, v: memoryview, strides: Sequence[int], x_shift: bool, y_shift: bool, full_range: bool) -> None:
    """
    Convert planes of luma and chroma to RGB, as frame number `row` of a sample.
    """

class SignalPadding(enum.Enum):
    """What there is beyond the ends of a signal."""

    none = 0

    zeros = 1

    reflect = 2

class SignalStart(enum.Enum):
    """What comes before the first sample of a signal."""

    zero = 0

    clamp = 1

    reflect = 2

def spectrogram(out: Samples, samples: Samples, nfft: int, window: numpy.typing.NDArray[Any], window_step: int, padding: SignalPadding, magnitude: bool, time_major: bool) -> None: ...

def power_spectrum(out: Samples, samples: Samples, axis: int, nfft: int, magnitude: bool) -> None: ...

def mel_filter_bank(out: Samples, samples: Samples, axis: int, filters: int, sample_rate: float, low: float, high: float, htk: bool, normalize: bool) -> None: ...

def multiply_axis(out: Samples, samples: Samples, axis: int, tables: Sequence[numpy.typing.NDArray[Any]]) -> None:
    """Multiply columns along an axis by a matrix."""

def to_decibels(out: Samples, samples: Samples, multiplier: float, reference: float, min_ratio: float) -> None: ...

def audio_resample(out: Samples, samples: Samples, steps: numpy.typing.NDArray[Any], lobes: int) -> None: ...

def preemphasis_filter(out: Samples, samples: Samples, coefficient: numpy.typing.NDArray[Any], start: SignalStart) -> None: ...

def nonsilent_region(begin: Samples, length: Samples, samples: Samples, cutoff_db: float, reference_power: float, window_length: int, reset_interval: int) -> None: ...

class AudioFiles:
    """Audio files that are opened and decoded together."""

    @overload
    def __init__(self, encoded: Samples, library: Sequence[int] | None) -> None: ...

    @overload
    def __init__(self, paths: Sequence[str], library: Sequence[int] | None) -> None: ...

    def information(self) -> NDArray[Any]:
        """
        Rows of (frames, channels, rate); -1 frames if a file could not be opened.
        """

    def read_error(self, index: int, path: str) -> Exception | None:
        """Why a file could not be read; None if it could."""

    def decode(self, out: Samples, ranges: NDArray[Any]) -> list[int]:
        """Decode ranges (file, first, count); return how many frames there were."""

def random_bbox_crop(boxes: Samples, state: PhiloxState, columns: Sequence[int], extents: bool, thresholds: Sequence[float], aspect_ratio: Sequence[float], min_scale: float, max_scale: float, attempts: int, total_attempts: int, prune_threshold: float, allow_no_crop: bool, all_boxes: bool, overlap: bool, input_shape: numpy.typing.NDArray[Any] | None, crop_shape: numpy.typing.NDArray[Any] | None) -> tuple[Samples, Samples, Samples, Samples, int, int]:
    """
    Anchors, shapes, boxes and their indices; the first sample for which no window suits, and the first whose search was given up (or -1).
    """

def random_object_bbox(starts: Samples, ends: Samples, classes: Samples, state: PhiloxState, masks: Samples, foreground_prob: numpy.typing.NDArray[Any], background: numpy.typing.NDArray[Any] | None, class_list: Samples | None, weights: Samples | None, threshold: numpy.typing.NDArray[Any] | None, k_largest: int, ignore_class: bool) -> None: ...

def random_mask_pixel(out: Samples, state: PhiloxState, masks: Samples, foreground: numpy.typing.NDArray[Any], value: numpy.typing.NDArray[Any] | None, threshold: numpy.typing.NDArray[Any]) -> None: ...

def encode_boxes(out_boxes: Samples, out_labels: Samples, boxes: Samples, labels: Samples, anchors: Samples, criteria: float, offset: bool, scale: float, means: numpy.typing.NDArray[Any], stds: numpy.typing.NDArray[Any]) -> None: ...

def select_polygons(masks: Samples, polygons: Samples, vertices: Samples, renumber: bool) -> tuple[Samples, Samples, int, str]:
    """
    Polygons and vertices; the first sample for which that fails (or -1), and why.
    """

def transform_points(out: Samples, input: Samples, matrix: numpy.typing.NDArray[Any], translation: numpy.typing.NDArray[Any]) -> None: ...

def file_cache_bytes() -> int: ...

class FileCache:
    """Contents of files, unless they are too large."""

    def __init__(self, limit: int, least_age: float) -> None: ...

    @property
    def active(self) -> bool: ...

def max_sample_bytes() -> int:
    """How many bytes of a file one sample may take."""

def set_max_sample_bytes(limit: int) -> None: ...

def parse_name_list(text: bytes, has_labels: bool) -> tuple[bytes, NDArray[Any], NDArray[Any], bool, int]:
    """
    The names in a text of lines, joined, where each ends, and their labels; whether all of them are relative and without '..'; and the number of the first bad line, or 0.
    """

def chosen_names(names: bytes, ends: NDArray[Any], chosen: NDArray[Any]) -> list[str]:
    """Chosen names of a list, as strings."""

def read_listed_files(names: bytes, ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], folder: bytes, cache: FileCache | None) -> tuple[Samples, dict[int, Exception]]:
    """
    The contents of chosen files of a list, and by index why some could not be read.
    """

def read_named_files(paths: Samples) -> tuple[Samples, dict[int, Exception]]:
    """The contents of files named by samples of characters, likewise."""

class NpyOutside(enum.Enum):
    """What to do where a region leaves an array."""

    error = 0

    pad = 1

    trim = 2

class NpyFault(enum.Enum):
    """Why an array cannot be read."""

    unreadable = 0

    malformed = 1

    bound_count = 2

    region = 3

    other_axes = 4

    other_type = 5

class NpyError:
    """An array that could not be read."""

    @property
    def sample(self) -> int: ...

    @property
    def fault(self) -> NpyFault: ...

    @property
    def window(self) -> WindowFault.Kind:
        """The fault of the region."""

    @property
    def axis(self) -> int: ...

    @property
    def value(self) -> float: ...

    @property
    def first(self) -> int:
        """The sample that this one differs from."""

    @property
    def exception(self) -> Exception | None:
        """Of an unreadable file."""

class NpyHeaderCache:
    """Headers of .npy files read before."""

    def __init__(self, least_age: float) -> None: ...

def read_npy_files(names: bytes, ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], folder: bytes, cache: NpyHeaderCache | None, region: tuple[numpy.typing.NDArray[Any], numpy.typing.NDArray[Any] | None, numpy.typing.NDArray[Any] | None, numpy.typing.NDArray[Any] | None, tuple[bool, bool, bool], NpyOutside, float] | None, lender: Callable[[Samples], Samples | None] | None = None) -> tuple[Samples, list[NpyError]]:
    """
    The arrays in chosen files that could be read, and the errors of the others. They are read into the memory that `lender` gives, if that is not None.
    """

def read_npy_contents(contents: Samples, paths: Sequence[str], region: tuple[numpy.typing.NDArray[Any], numpy.typing.NDArray[Any] | None, numpy.typing.NDArray[Any] | None, numpy.typing.NDArray[Any] | None, tuple[bool, bool, bool], NpyOutside, float] | None, lender: Callable[[Samples], Samples | None] | None = None) -> tuple[Samples, list[NpyError]]:
    """The arrays in the contents of files, likewise."""

class RecordFault(enum.Enum):
    """What is wrong with a record."""

    none = 0

    too_short = 1

    bad_length = 2

    cut_short = 3

    bad_checksum = 4

    malformed = 5

    missing_feature = 6

    wrong_type = 7

    too_many_values = 8

    wrong_multiple = 9

    bad_magic = 10

    wrong_size = 11

    mixed = 12

    bad_label = 13

    missing_tensor = 14

class RecordError:
    """A record that cannot be used."""

    @property
    def index(self) -> int:
        """Its index in the request."""

    @property
    def fault(self) -> RecordFault: ...

    @property
    def part(self) -> int:
        """The number of a feature or tensor."""

    @property
    def value(self) -> int: ...

class TarFault(enum.Enum):
    """Why the files of a tar archive end before their time."""

    none = 0

    no_tar = 1

    cut_short = 2

    compressed = 3

class ComponentFault(enum.Enum):
    """What is wrong with samples of tar archives."""

    none = 0

    no_tar = 1

    cut_short = 2

    compressed = 3

    bad_version = 4

    bad_count = 5

    bad_line = 6

    bad_offset = 7

    too_few_lines = 8

    missing = 9

    bad_size = 10

class ComponentError:
    """A sample of a tar archive with a fault."""

    @property
    def fault(self) -> ComponentFault: ...

    @property
    def where(self) -> int:
        """The byte of the archive or line of the index."""

    @property
    def output(self) -> int: ...

class LmdbFault(enum.Enum):
    """What ended the entries of a database."""

    none = 0

    no_database = 1

    unsupported = 2

    damaged = 3

class RecordIndex:
    """The records of a TFRecord file."""

    @property
    def offsets(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def sizes(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def fault(self) -> RecordFault:
        """What ended the records before their time."""

    @property
    def fault_offset(self) -> int: ...

class LmdbIndex:
    """The entries of a database."""

    @property
    def offsets(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def sizes(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def key_ends(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def keys(self) -> bytes: ...

    @property
    def fault(self) -> LmdbFault: ...

    @property
    def fault_page(self) -> int: ...

class NumberPairs:
    """The numbers of a text with two in each line."""

    @property
    def first(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def second(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def bad_line(self) -> int:
        """The first line without two numbers, or 0."""

class TarIndexText:
    """The index of a tar archive."""

    @property
    def text(self) -> bytes: ...

    @property
    def fault(self) -> TarFault: ...

    @property
    def fault_offset(self) -> int: ...

    @property
    def blank_extensions(self) -> bool: ...

    @property
    def blank_names(self) -> bool: ...

class MissingComponents(enum.Enum):
    """What becomes of samples that have nothing for an output."""

    stay_empty = 0

    skip = 1

    error = 2

class LabelType(enum.Enum):
    """What the labels of Caffe2's records are."""

    single = 0

    sparse = 1

    dense = 2

    weighted_sparse = 3

    none = 4

class Archives:
    """Files of which pieces are read; only few stay open."""

    def __init__(self, paths: Sequence[bytes], open_url: object, joined: bool, may_map: bool, kept_bytes: int, least_age: float) -> None: ...

    def read(self, files: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], dtype: int = 0) -> tuple[Samples, dict[int, Exception]]:
        """Parts of files, and by index why some could not be read."""

    def read_number_pairs(self, file: int) -> NumberPairs:
        """Raises OSError."""

    def size(self, file: int) -> int:
        """The bytes of a file. Raises OSError."""

    def index_lmdb(self, file: int) -> LmdbIndex:
        """Raises OSError."""

    def make_tar_index(self, file: int, with_names: bool) -> TarIndexText:
        """Raises OSError."""

    def index_tfrecord(self, file: int) -> RecordIndex:
        """Raises OSError."""

class ComponentIndex:
    """The samples of tar archives."""

    def __init__(self, extensions: Sequence[Sequence[bytes]], dtypes: Sequence[int], case_sensitive: bool, missing: MissingComponents) -> None: ...

    def add_tar(self, archives: Archives, file: int) -> list[ComponentError]:
        """Add the samples of an archive; the errors of some. Raises OSError."""

    def add_index(self, archives: Archives, file: int) -> list[ComponentError]:
        """
        Add the samples that an index lists; the errors of some. Raises OSError.
        """

    def end_file(self) -> None:
        """What comes next belongs to the next archive."""

    @property
    def samples(self) -> int: ...

    @property
    def file_ends(self) -> list[int]: ...

    @property
    def ambiguous(self) -> tuple[int, int]: ...

    def read(self, archives: Archives, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[list[Samples], dict[int, Exception]]:
        """The outputs, and by index why some samples could not be read."""

    def find(self, numbers: Sequence[int], output: int) -> list[tuple[int, int, bytes]]:
        """
        Archive, offset (-1: nothing) and name of what samples have for an output.
        """

class ExampleParser:
    """Takes Example messages of TFRecords apart."""

    def __init__(self, rules: Sequence[tuple[bytes, int, bool, Sequence[int], bytes | None]]) -> None: ...

    def read(self, archives: Archives, files: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[list[Samples], dict[int, Exception], list[RecordError]]:
        """
        The features; by index why some records could not be read; the errors of others.
        """

def parse_recordio(records: Samples) -> tuple[list[Samples], list[RecordError]]:
    """Images and labels, and the errors of some records."""

def parse_datums(records: Samples, image: bool, label: bool) -> tuple[list[Samples], list[RecordError]]:
    """Images and labels, and the errors of some records."""

def parse_tensors(records: Samples, image: bool, label_type: LabelType, num_labels: int, additional: int, box: bool) -> tuple[list[Samples], list[RecordError]]:
    """Tensors, and the errors of some records."""

def crc32c(data: bytes, portable: bool = False) -> int:
    """The checksum CRC-32C; only tests call it."""

def lz4_decompress(out: Samples, input: Samples, offsets: Samples, sizes: Samples) -> tuple[int, int, str] | None:
    """The first chunk that cannot be read: sample, chunk and reason."""

class JsonFault:
    """Where a text is not the JSON expected."""

    class Kind(enum.Enum):
        early_end = 1

        syntax = 2

        no_object = 3

        no_array = 4

        no_string = 5

        no_number = 6

        no_integer = 7

    @property
    def kind(self) -> JsonFault.Kind: ...

    @property
    def position(self) -> int: ...

class CocoMissing:
    """An entry of an annotation file lacks a key."""

    @property
    def list(self) -> str: ...

    @property
    def entry(self) -> int: ...

    @property
    def key(self) -> str: ...

class CocoFault:
    """Something that makes one image useless."""

    class Kind(enum.Enum):
        box_outside = 1

        odd_polygon = 2

        bad_runs = 3

        no_size = 4

        unknown_class = 5

    @property
    def image(self) -> int: ...

    @property
    def kind(self) -> CocoFault.Kind: ...

    @property
    def annotation(self) -> int: ...

    @property
    def value(self) -> int: ...

def parse_coco(text: bytes, size_threshold: float, include_crowds: bool, ltrb: bool, ratio: bool, remap_classes: bool, skip_empty: bool, polygons: bool, runs: bool, images: Sequence[str] | None) -> dict[str, Any] | JsonFault | CocoMissing:
    """Annotations, or why there are none."""

def paint_coco_masks(sizes: Annotated[NDArray[numpy.int64], dict(order='C', device='cpu', writable=False)], mask_rows: Annotated[NDArray[numpy.int64], dict(order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(order='C', device='cpu', writable=False)], polygons: Annotated[NDArray[numpy.int32], dict(order='C', device='cpu', writable=False)], vertices: Annotated[NDArray[numpy.float32], dict(order='C', device='cpu', writable=False)], mask_boxes: Annotated[NDArray[numpy.int32], dict(order='C', device='cpu', writable=False)], run_ends: Annotated[NDArray[numpy.int64], dict(order='C', device='cpu', writable=False)], runs: Annotated[NDArray[numpy.uint32], dict(order='C', device='cpu', writable=False)], relative: bool) -> Samples:
    """Pictures of the labels of segmentations."""

class ParquetCodec(enum.Enum):
    """How pages are compressed."""

    none = 0

    snappy = 1

    gzip = 2

class ParquetType(enum.Enum):
    """How values are stored."""

    boolean = 0

    int32 = 1

    int64 = 2

    float32 = 3

    float64 = 4

    bytes = 5

    fixed = 6

class RowGroupReader:
    """Decodes columns of a row group."""

    def __init__(self, archives: Archives, file: int, columns: Sequence[tuple[int, int, int, ParquetCodec, ParquetType, int, int, int]]) -> None:
        """
        Each column: offset, size, rows, codec, type, width, definition level and dtype.
        """

    def read(self, rows: int) -> list[Samples] | None:
        """
        The next rows; None if something is damaged, or of a kind that is not decoded here.
        """
