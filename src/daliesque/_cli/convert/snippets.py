# SPDX-License-Identifier: Apache-2.0
"""Small helpers that converted scripts get when they need them, as text."""

from __future__ import annotations

BATCHES = '''
class Batches:
    """The steps of a loop: `next(batches)` gives the outputs of the next one."""

    def __init__(self, make, batch_size, reader=None, fed=None):
        self._make = make
        self._fed = fed
        self._epoch = 0
        self._steps = make(0)
        self.batch_size = batch_size
        self.reader = reader

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._steps)

    def epoch_size(self):
        return self.reader.get_metadata()["epoch_size"]

    def reset(self):
        """Begin a new epoch of data that have an end of their own."""
        if self.reader is None:
            self._epoch += 1
            self._steps = self._make(self._epoch)

    def feed_input(self, name, data, layout=None):
        """Give the loop the data of one of the next steps."""
        self._fed[name].append(data if layout is None else ndd.batch(data, layout=layout))

    def feed(self, **inputs):
        """Give the loop the data of the next step."""
        for name, data in inputs.items():
            self.feed_input(name, data)
        return self
'''

SOURCE = '''
def external_batches(
    source,
    batch_size,
    batch=True,
    batch_info=False,
    num_outputs=None,
    cycle=None,
    layout=None,
    device="cpu",
    epoch=0,
):
    """Yield what a source gives (an iterable, a generator function, a callable) as batches."""

    def items():
        if inspect.isgeneratorfunction(source) or isinstance(source, Iterable):
            if cycle is None and epoch > 0 and hasattr(source, "__next__"):
                # Iterators say themselves where the next epoch begins.
                yield from itertools.starmap(next, itertools.repeat((source,)))
                return
            while True:
                yield from source() if callable(source) else source
                if cycle not in (True, "quiet"):
                    return
        arity = len(inspect.signature(source).parameters)
        for number in itertools.count():
            iteration = number if batch else number // batch_size
            info = SimpleNamespace(iteration=iteration, epoch_idx=epoch, idx_in_epoch=number)
            info.idx_in_batch = number % batch_size
            arguments = (info if batch_info or not batch else iteration,)[:arity]
            try:
                item = source(*arguments)
            except StopIteration:
                return
            yield item

    def as_batch(data, index):
        own = layout if layout is None or isinstance(layout, str) else layout[index]
        return ndd.batch(data, layout=own, device=device)

    steps = items()
    while True:
        if batch:
            data = next(steps, None)
            if data is None:
                return
        else:
            data = list(itertools.islice(steps, batch_size))
            if len(data) < batch_size:
                return
            data = data if num_outputs is None else [list(column) for column in zip(*data)]
        if num_outputs is None:
            yield as_batch(data, 0)
        else:
            yield tuple(as_batch(column, index) for index, column in enumerate(data))
'''

LOADER = '''
class Loader:
    """Deliver the batches of loops epoch by epoch, as DESCRIPTION."""

    def __init__(
        self,
        pipelines,
        output_map=("data", "label"),
        size=-1,
        reader_name=None,
        auto_reset=False,
        last_batch_padded=False,
        last_batch_policy="fill",
    ):
        self.pipelines = pipelines if isinstance(pipelines, list) else [pipelines]
        self.output_map = list(output_map)
        self.auto_reset = auto_reset in (True, "yes")
        self.policy = last_batch_policy
        self.padded = last_batch_padded
        self.epoch = 0
        self.seen = 0  # samples that each pipeline has delivered in this epoch
        if reader_name is not None:
            meta = [pipe.reader.get_metadata() for pipe in self.pipelines]
            total, count = meta[0]["epoch_size"], meta[0]["number_of_shards"]
            self.padded = bool(meta[0]["pad_last_batch"])
            self.sticks = bool(meta[0]["stick_to_shard"])
            share = meta[0]["epoch_size_padded"] if self.padded else total
            self.longest = -(-share // count)
            self.sizes = [(i + 1) * total // count - i * total // count for i in range(count)]
            self.shards = [each["shard_id"] for each in meta]
        else:
            self.longest = -(-size // len(self.pipelines))
            self.sizes = [self.longest]
            self.shards = [0] * len(self.pipelines)
            self.sticks = True
        self.endless = size < 0 and reader_name is None
        self.size = self.longest
        self.carried = [0] * len(self.sizes)  # samples that the epoch before has delivered already

    @property
    def batch_size(self):
        return self.pipelines[0].batch_size

    def __len__(self):
        steps = self._limit() // self.batch_size
        return steps if self.policy == "drop" else -(-self._limit() // self.batch_size)

    def __iter__(self):
        return self

    def __next__(self):
        if not self.endless and self.seen >= self._limit():
            self._end()
        try:
            outputs = [next(pipe) for pipe in self.pipelines]
        except StopIteration:
            self._end()
        self.seen += outputs[0][0].batch_size
        if not self.endless and self.policy == "drop" and self.seen > self._limit():
            self._end()
        return COLLECT

    def reset(self):
        """Begin the next epoch, if this one has ended."""
        if self.endless:
            self.pipelines[0].reset()
        elif self.seen < self._limit() and self.policy != "drop":
            return
        elif self.policy == "fill" and not self.padded:
            for shard in range(len(self.sizes)):
                self.carried[shard] += self.seen - self._size(shard)
        self.seen = 0
        self.epoch += 1

    def _size(self, shard):
        return self.sizes[(shard + (0 if self.sticks else self.epoch)) % len(self.sizes)]

    def _limit(self):
        if self.policy == "drop":
            return min(self.sizes)
        if self.policy == "partial" or self.padded:
            return self.longest
        return max(self._size(shard) - self.carried[shard] for shard in range(len(self.sizes)))

    def _end(self):
        if self.auto_reset:
            self.reset()
        raise StopIteration

    def _convert(self, outputs, shard):
        excess = 0
        if self.policy == "partial" and not self.endless:
            excess = max(0, self.seen - self._size(shard))
        arrays = {}
        for name, batch in zip(self.output_map, outputs):
            array = ARRAY
            arrays[name] = array[: max(0, len(array) - excess)]
        return arrays
'''

CONSTANT = '''
def constant(value):
    """A value that is the same for all samples, in the types that constants of graphs have."""
    array = np.asarray(value)
    narrow = {"float64": "float32", "int64": "int32", "uint64": "uint32"}
    return ndd.as_tensor(array.astype(narrow.get(array.dtype.name, array.dtype)))
'''

FILLING = '''
def call_filling(*inputs, run_fn, out_types, outs_ndim, setup_fn=None, batch_processing=False):
    """Call a function that fills arrays, the shapes of which another function sets."""
    arrays = [[np.asarray(sample) for sample in batch.cpu()] for batch in inputs]
    shapes = [np.array([array.shape for array in column], np.int64) for column in arrays]
    wanted = [np.zeros((len(shapes[0]), ndim), np.int64) for ndim in outs_ndim]
    if setup_fn is None:
        wanted = shapes[: len(out_types)]
    else:
        setup_fn(wanted, shapes)
    made = [
        [np.empty(shape, dtype.numpy) for shape in rows]
        for rows, dtype in zip(wanted, out_types)
    ]
    if batch_processing:
        run_fn(*made, *arrays)
    else:
        compiled = run_fn if hasattr(run_fn, "py_func") else numba.njit(run_fn)
        for samples in zip(*made, *arrays):
            compiled(*samples)
    outputs = tuple(ndd.batch(column) for column in made)
    return outputs[0] if len(outputs) == 1 else outputs
'''

_EACH = "[self._convert(*each) for each in zip(outputs, self.shards)]"
# How the frameworks take a batch, and what their iterators deliver for a step.
FRAMEWORKS = {
    "pytorch": ("batch.torch()", _EACH, "lists of one dict of torch tensors for each"),
    "paddle": (
        "paddle.to_tensor(np.asarray(ndd.as_tensor(batch.cpu())))",
        _EACH,
        "lists of one dict of paddle tensors for each",
    ),
    "jax": (
        "jax.numpy.asarray(np.asarray(ndd.as_tensor(batch.cpu())))",
        "self._convert(outputs[0], self.shards[0])",
        "dicts of JAX arrays",
    ),
}
IMPORTS = {
    "source": (
        "import inspect",
        "import itertools",
        "from collections.abc import Iterable",
        "from types import SimpleNamespace",
    ),
    "numba": ("import numba",),
    "fed": ("from collections import defaultdict, deque",),
    "pytorch": (),
    "paddle": ("import paddle",),
    "jax": ("import jax",),
}


def loader(framework: str, name: str, numpy: str) -> str:
    """The class that replaces a framework's iterators."""
    array, collect, description = FRAMEWORKS[framework]
    text = LOADER.replace("class Loader:", f"class {name}:").replace("DESCRIPTION", description)
    text = text.replace("ARRAY", array).replace("COLLECT", collect)
    return text.replace("np.", f"{numpy}.")


def source(name: str) -> str:
    """The function that replaces external sources."""
    return SOURCE.replace("def external_batches(", f"def {name}(")


def constant(name: str, numpy: str) -> str:
    """The function that replaces constants whose type is not known."""
    text = CONSTANT.replace("def constant(", f"def {name}(")
    return text.replace("np.", f"{numpy}.")


def filling(name: str, numpy: str) -> str:
    """The function that replaces calls of functions compiled by Numba."""
    text = FILLING.replace("def call_filling(", f"def {name}(")
    return text.replace("np.", f"{numpy}.")


def batches(name: str) -> str:
    """The class for loops whose reader or end others need to know."""
    return BATCHES.replace("class Batches:", f"class {name}:")
