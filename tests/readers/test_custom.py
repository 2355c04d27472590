# SPDX-License-Identifier: Apache-2.0
"""Readers that others write: what `Reader` promises to its subclasses."""

from __future__ import annotations

import dataclasses
import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque.readers import Fetched, File, Reader
from support.reader_checks import epoch_of, flat, numbers_of
from support.reader_properties import assert_is_a_reader


class Values(Reader):
    """Delivers what a function returns for each number."""

    def __init__(self, make: Callable[[int], Any], size: int = 6, **options: Any) -> None:
        super().__init__(**options)
        self.make = make
        self.size = size
        self.opened = 0

    def open_index(self) -> int:
        self.opened += 1
        return self.size

    def fetch_sample(self, number: int) -> Any:
        return self.make(number)


class FieldsFirst(Values):
    def __init__(self, **options: Any) -> None:
        self.offset = 100
        super().__init__(np.int32, **options)

    def fetch_sample(self, number: int) -> Any:
        return np.int32(self.offset + number)


class FieldsLast(Values):
    def __init__(self, **options: Any) -> None:
        super().__init__(np.int32, **options)
        self.offset = 100
        self.size = 7

    def fetch_sample(self, number: int) -> Any:
        return np.int32(self.offset + number)


class Inherited(FieldsLast):
    pass


class Mixin:
    """Knows nothing of readers, and sets its field last."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.size = 8


class Mixed(Mixin, FieldsLast):
    pass


@pytest.mark.parametrize(
    ("kind", "size"), [(FieldsFirst, 6), (FieldsLast, 7), (Inherited, 7), (Mixed, 8)]
)
def test_fields_may_be_set_before_and_after_init(kind: Any, size: int) -> None:
    reader = kind()
    assert reader.opened == 1
    assert flat(epoch_of(reader)) == [100 + number for number in range(size)]
    assert reader.opened == 1
    lazy = kind(lazy_init=True)
    assert lazy.opened == 0
    assert lazy.get_metadata()["epoch_size"] == size
    assert lazy.opened == 1


def test_dataclasses() -> None:
    @dataclasses.dataclass(eq=False)
    class Range(Reader):
        first: int
        size: int
        options: dict[str, Any] = dataclasses.field(default_factory=dict)

        def __post_init__(self) -> None:
            super().__init__(**self.options)

        def open_index(self) -> int:
            return self.size

        def fetch_sample(self, number: int) -> int:
            return self.first + number

    assert flat(epoch_of(Range(5, 3))) == [5, 6, 7]
    with pytest.raises(ValueError, match=r"^Range: 'num_shards' must be at most .* got 4 for 3"):
        Range(5, 3, {"num_shards": 4})


def test_the_index_may_be_used_in_init() -> None:
    class Early(Values):
        def __init__(self) -> None:
            super().__init__(np.int32)
            self.length = self.get_metadata()["epoch_size"]

    reader = Early()
    assert (reader.length, reader.opened) == (6, 1)


def test_an_init_that_fails_opens_nothing() -> None:
    opened = []

    class Failing(Values):
        def __init__(self, **options: Any) -> None:
            super().__init__(np.int32, **options)
            raise KeyError

        def open_index(self) -> int:
            opened.append(1)
            return 6

    class Recovering(Values):
        def __init__(self) -> None:
            try:
                super().__init__(np.int32, num_shards=0)
            except ValueError:
                super().__init__(np.int32)

    with pytest.raises(KeyError):
        Failing()
    assert opened == []
    assert flat(epoch_of(Recovering())) == [0, 1, 2, 3, 4, 5]


def test_what_open_index_raises_comes_out_of_the_constructor() -> None:
    class Unreadable(Values):
        def open_index(self) -> int:
            raise FileNotFoundError

    with pytest.raises(FileNotFoundError):
        Unreadable(np.int32)
    reader = Unreadable(np.int32, lazy_init=True)
    with pytest.raises(FileNotFoundError):
        reader.next_epoch()


def test_signatures_are_those_of_the_subclass() -> None:
    assert list(inspect.signature(Values).parameters) == ["make", "size", "options"]
    assert list(inspect.signature(Inherited).parameters) == ["options"]
    assert "file_root" in inspect.signature(File).parameters


def test_warnings_point_at_the_call() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        File(files=["a"], shuffle_after_epoch_seed=3)
    assert [warning.filename for warning in caught] == [__file__]


def test_missing_hooks() -> None:
    class Empty(Reader):
        pass

    class Unindexed(Reader):
        def fetch(self, numbers: Any) -> Fetched:
            return Fetched.of([numbers])

    class Forgetful(Values):
        def __init__(self) -> None:
            pass

    both = r"must define open_index\(self\) and fetch_sample\(self, number\)\."
    with pytest.raises(TypeError, match=rf"^Empty: a reader {both}"):
        Empty()
    with pytest.raises(TypeError, match=rf"^Reader: a reader {both}"):
        Reader()
    with pytest.raises(TypeError, match=r"^Unindexed: a reader must define open_index\(self\)\."):
        Unindexed()
    with pytest.raises(TypeError, match=r"^Forgetful: __init__ must call super\(\)\.__init__"):
        Forgetful()


def test_names_in_messages() -> None:
    class Named(Values):
        operator = "mine.Named"

    class Derived(Named):
        pass

    for kind, name in ((Values, "Values"), (Named, r"mine\.Named"), (Derived, "Derived")):
        with pytest.raises(ValueError, match=rf"^{name}: 'num_shards' must be positive"):
            kind(np.int32, num_shards=0)


@pytest.mark.parametrize(
    ("size", "error", "match"),
    [
        (None, TypeError, "open_index must return the number of samples; got None"),
        (2.0, TypeError, r"open_index must return the number of samples; got 2\.0"),
        (-1, ValueError, "open_index must not return a negative number; got -1"),
        (0, ValueError, "there are no samples"),
    ],
)
def test_unusable_sizes(size: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=rf"^Values: {match}"):
        Values(np.int32, size)
    assert flat(epoch_of(Values(np.int32, np.int64(2)))) == [0, 1]  # type: ignore[arg-type]


def test_one_output_needs_no_tuple() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    for value in (array, ndd.as_tensor(array), ndd.as_tensor(array) * 1):
        for batch_size in (None, 2):
            (output,) = next(Values(lambda _, value=value: value).next_epoch(batch_size))
            sample = output if batch_size is None else output.tensors[1]
            np.testing.assert_array_equal(np.asarray(sample), array)
    (output,) = next(Values(lambda _: b"abc").next_epoch())
    assert bytes(np.asarray(output)) == b"abc"
    (output,) = next(Values(lambda number: number + 0.5).next_epoch(2))
    assert (output.dtype, output.torch().tolist()) == (ndd.float32, [0.5, 1.5])


def test_layouts_are_kept() -> None:
    image = np.zeros((4, 5, 3), np.uint8)

    def make(number: int) -> Any:
        return ndd.as_tensor(image, layout="HWC"), ndd.resize(
            ndd.as_tensor(image, layout="HWC"), size=[2 + number, 2]
        )

    for batch_size in (None, 3):
        original, resized = next(Values(make).next_epoch(batch_size))
        assert (original.layout, resized.layout) == ("HWC", "HWC")
    assert resized.shape == [(2, 2, 3), (3, 2, 3), (4, 2, 3)]
    with pytest.raises(ValueError, match="all samples of a batch need one layout"):
        next(Values(lambda n: make(n)[0] if n else image).next_epoch(2))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "got None"),
        ([1, 2], r"got list \[1, 2\]"),
        ({"a": 1}, "got dict"),
        ("text", "got str 'text'"),
        ((), "an empty tuple"),
        ((1, None), "got None"),
        (ndd.batch([1, 2]), "got a Batch on cpu"),
        (np.array(["a"]), "arrays of type <U1 are not supported"),
        (np.array([None]), "arrays of Python objects"),
    ],
    ids=repr,
)
def test_unusable_samples(value: Any, shown: str) -> None:
    def make(number: int) -> Any:
        return value if number == 2 else np.zeros(3)

    match = rf'^Values: cannot read "sample 2" \(sample 2 of the batch\): TypeError: .*{shown}'
    with pytest.raises(ndd.OpError, match=match):
        next(Values(make).next_epoch(6))
    reader = Values(make, on_error="skip", pad_last_batch=True)
    (outputs,) = next(reader.next_epoch(5))
    assert outputs.source == [f"sample {number}" for number in (0, 1, 3, 4, 5)]
    assert [error.source for error in reader.errors] == ["sample 2"]


def test_varying_numbers_of_outputs() -> None:
    reader = Values(lambda number: (1,) * (2 if number == 1 else 3))
    with pytest.raises(ndd.OpError, match=r'"sample 1".*returned 2 outputs instead of 3'):
        next(reader.next_epoch(3))

    class Named(Values):
        output_names = ("a", "b")

    with pytest.raises(ndd.OpError, match=r'"sample 0".*returned 3 outputs instead of 2'):
        next(Named(lambda _: (1, 2, 3)).next_epoch(3))
    step = next(Named(lambda number: (number, -number)).next_epoch(3))
    assert step["b"].torch().tolist() == [0, -1, -2]


def test_source_names() -> None:
    class Located(Values):
        def source_name(self, number: int) -> Any:
            return Path(f"{number}.txt")

    with pytest.raises(TypeError, match=r"^Located: source_name must return a string; got Posix"):
        next(Located(np.int32).next_epoch())


def raising(error: BaseException) -> Callable[[int], Any]:
    """A function that raises for one sample."""

    def make(number: int) -> Any:
        if number == 2:
            raise error
        return np.int32(number)

    return make


BUGS = [KeyError("a"), ZeroDivisionError(), AttributeError("x"), StopIteration(), MemoryError()]


@pytest.mark.parametrize("error", BUGS, ids=repr)
def test_whatever_a_hook_raises_makes_a_bad_sample(error: Exception) -> None:
    for batch_size in (None, 1, 3):
        reader = Values(raising(error), on_error="skip", pad_last_batch=True)
        assert flat(epoch_of(reader, batch_size))[:5] == [0, 1, 3, 4, 5]
        assert [error.source for error in reader.errors] == ["sample 2"]
        steps = Values(raising(error)).next_epoch(batch_size)
        match = rf'^Values: cannot read "sample 2".*: {type(error).__name__}'
        with pytest.raises(ndd.OpError, match=match) as caught:
            list(steps)
        assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [ndd.InternalError("bug"), ImportError("no module")], ids=repr)
def test_what_is_no_fault_of_a_sample(error: Exception) -> None:
    for policy in ("raise", "skip", "replace"):
        steps = Values(raising(error), on_error=policy).next_epoch()
        assert [numbers_of(next(steps)) for _ in range(2)] == [[0], [1]]
        with pytest.raises(type(error), match=str(error)):
            next(steps)
        assert flat(map(numbers_of, steps)) == [3, 4, 5]


class Many(Reader):
    """Fetches several numbers at once; what it returns for them may be changed."""

    def __init__(self, change: Callable[[Any, Any], Any] | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.change = change or (lambda _, fetched: fetched)

    def open_index(self) -> int:
        return 9

    def fetch(self, numbers: Any) -> Any:
        rows = [np.full(number % 3, number, np.int32) for number in numbers]
        return self.change(numbers, Fetched.of([numbers.astype(np.int32), rows]))


def test_several_samples_at_once() -> None:
    assert_is_a_reader(Many, [f"sample {number}" for number in range(9)])
    numbers, rows = next(Many(shard_id=1, num_shards=3).next_epoch(3))
    assert numbers.torch().tolist() == [3, 4, 5]
    assert rows.shape == [(0,), (1,), (2,)]


def test_layouts_of_batches_are_kept() -> None:
    made = Fetched.of([ndd.as_batch(np.zeros((2, 4, 4, 3)), layout="HWC")])
    (output,) = next(Many(lambda *_: made).next_epoch(2))
    assert output.layout == "HWC"


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        (lambda _, fetched: tuple(fetched), TypeError, "fetch must return a readers.Fetched"),
        (lambda *_: None, TypeError, "fetch must return a readers.Fetched.*got None"),
        (lambda *_: Fetched.of([[1]]), ValueError, "return 3 samples for each output.*got 1 for"),
        (lambda *_: Fetched((), {}), ValueError, "no outputs for 3 samples"),
        (
            lambda _, fetched: Fetched(fetched.outputs, {5: OSError()}),
            ValueError,
            r"number errors from 0 to 2; got \[5\]",
        ),
        (
            lambda _, fetched: Fetched(fetched.outputs, {1: OSError()}),
            ValueError,
            "return 2 samples for each output: all of 3 without the 1 in 'errors'; got 3",
        ),
    ],
)
def test_unusable_results(change: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=rf"^Many: fetch .*{match}|^Many: {match}"):
        next(Many(change).next_epoch(3))


def test_a_fetch_that_raises() -> None:
    """Those that are to blame are found one by one, if they are to be left out."""

    def change(numbers: Any, fetched: Any) -> Any:
        if {2, 7} & set(numbers.tolist()):
            raise LookupError(str(numbers.tolist()))
        return fetched

    with pytest.raises(LookupError, match=r"\[0, 1, 2\]"):
        next(Many(change).next_epoch(3))
    for batch_size in (None, 1, 4, 9):
        reader = Many(change, on_error="skip", pad_last_batch=True)
        names = [
            name
            for numbers, _ in reader.next_epoch(batch_size)
            for name in (numbers.source if batch_size else [numbers.source])
        ]
        assert names[:7] == [f"sample {number}" for number in (0, 1, 3, 4, 5, 6, 8)]
        assert [error.source for error in reader.errors] == ["sample 2", "sample 7"]


def test_samples_that_do_not_go_together() -> None:
    """Each can be read alone, so that none is to be left out."""

    def change(numbers: Any, fetched: Any) -> Any:
        if len(numbers) > 1:
            msg = "one at a time"
            raise ValueError(msg)
        return fetched

    reader = Many(change, on_error="skip")
    with pytest.raises(ValueError, match="one at a time"):
        next(reader.next_epoch(2))
    assert reader.errors == []


def test_files_that_are_left_out() -> None:
    class Archives(Values):
        def open_index(self) -> int:
            self.leave_out("a.tar", OSError(5, "it is broken"))
            return super().open_index()

    with pytest.raises(OSError, match=r'^Archives: cannot read "a\.tar": it is broken\.') as caught:
        Archives(np.int32)
    assert caught.value.errno == 5
    reader = Archives(np.int32, on_error="skip")
    assert [error.source for error in reader.errors] == ["a.tar"]
    assert flat(epoch_of(reader)) == [0, 1, 2, 3, 4, 5]


def test_custom_readers_have_all_properties() -> None:
    assert_is_a_reader(
        lambda **options: Values(np.int32, **options), [f"sample {number}" for number in range(6)]
    )
