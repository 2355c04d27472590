# SPDX-License-Identifier: Apache-2.0
"""What a type checker says about each kind of operator. Checked by mypy, never run."""

from typing import TypeAlias, assert_type

import numpy as np
from numpy.typing import NDArray

import daliesque as ndd
from daliesque import Batch, Scene, Tensor

# Two results or more, and results of which neither class nor number is known.
Some: TypeAlias = tuple[Batch, Batch, *tuple[Batch, ...]]
Unknown: TypeAlias = Tensor | tuple[Tensor, ...] | Batch | tuple[Batch, ...]


def one_result(
    tensor: Tensor, batch: Batch, either: Tensor | Batch, array: NDArray[np.uint8]
) -> None:
    """A Batch comes out if one goes in, or with a batch size.

    A Batch among the arguments does it, too; checkers only know that it may be one.
    """
    assert_type(ndd.flip(batch), Batch)
    assert_type(ndd.flip(tensor), Tensor)
    assert_type(ndd.flip(array), Tensor)
    assert_type(ndd.flip([[1, 2], [3, 4]]), Tensor)
    assert_type(ndd.flip(tensor, batch_size=4), Batch)
    assert_type(ndd.flip(tensor, horizontal=batch), Tensor | Batch)
    assert_type(ndd.flip(batch, horizontal=tensor), Batch)
    assert_type(ndd.flip(batch, horizontal=None, device="cpu"), Batch)
    assert_type(ndd.flip(either), Tensor | Batch)


def several_inputs(tensor: Tensor, batch: Batch) -> None:
    """Any input may be the Batch; if it is the first one, checkers know the result."""
    assert_type(ndd.cat(tensor, tensor), Tensor)
    assert_type(ndd.cat(tensor, batch, axis=1), Tensor | Batch)
    assert_type(ndd.stack(batch, batch), Batch)
    assert_type(ndd.slice(tensor, [0, 0], [1, 1]), Tensor)
    assert_type(ndd.slice(tensor, batch, batch), Tensor | Batch)
    assert_type(ndd.cast_like(tensor, batch), Tensor | Batch)


def no_input(batch: Batch) -> None:
    """A batch size gives a Batch, and so does a Batch among the arguments."""
    assert_type(ndd.random.uniform(range=[0.0, 1.0]), Tensor)
    assert_type(ndd.random.uniform(batch_size=8), Batch)
    assert_type(ndd.random.uniform(range=batch), Tensor | Batch)
    assert_type(ndd.random.coin_flip(probability=batch), Tensor | Batch)
    assert_type(ndd.zeros(shape=[2, 3]), Tensor)
    assert_type(ndd.batch_permutation(batch_size=8), Batch)


def optional_input(tensor: Tensor, batch: Batch) -> None:
    """Inputs that may be left out."""
    assert_type(ndd.random.normal(batch), Batch)
    assert_type(ndd.random.normal(tensor, mean=1.0), Tensor)
    assert_type(ndd.random.normal(), Tensor)


def two_results(tensor: Tensor, batch: Batch) -> None:
    """Operators that always have two results."""
    assert_type(ndd.decoders.audio(batch), tuple[Batch, Batch])
    assert_type(ndd.decoders.audio(tensor), tuple[Tensor, Tensor])
    assert_type(ndd.nonsilent_region(batch, cutoff_db=-40), tuple[Batch, Batch])
    assert_type(ndd.random_crop_generator(batch), tuple[Batch, Batch])
    assert_type(ndd.box_encoder(batch, batch, anchors=[0.0, 0.0, 1.0, 1.0]), tuple[Batch, Batch])
    assert_type(ndd.segmentation.select_masks(batch, batch, batch), tuple[Batch, Batch])


def result_by_flag(tensor: Tensor, batch: Batch, flag: bool) -> None:
    """A result that a flag adds."""
    assert_type(ndd.resize(batch, size=[2, 2]), Batch)
    assert_type(ndd.resize(tensor, size=(2, 2)), Tensor)
    assert_type(ndd.resize(batch, resize_x=batch, save_attrs=False), Batch)
    assert_type(ndd.resize(batch, size=[2, 2], save_attrs=True), tuple[Batch, Batch])
    assert_type(ndd.resize(tensor, size=[2, 2], save_attrs=True), tuple[Tensor, Tensor])
    assert_type(ndd.resize(batch, size=2, save_attrs=flag), Unknown)


def result_by_input(tensor: Tensor, batch: Batch) -> None:
    """A result that an input adds."""
    assert_type(ndd.bbox_rotate(batch, angle=3.0, input_shape=[4, 4]), Batch)
    assert_type(ndd.bbox_rotate(batch, batch, angle=3, input_shape=[4, 4]), tuple[Batch, Batch])
    assert_type(ndd.bbox_rotate(tensor, angle=batch, input_shape=[4, 4]), Tensor | Batch)


def results_by_several(batch: Batch) -> None:
    """Results that depend on an input and a flag, or on a word and a flag."""
    assert_type(ndd.random_bbox_crop(batch), tuple[Batch, Batch, Batch])
    assert_type(ndd.random_bbox_crop(batch, batch), tuple[Batch, Batch, Batch, Batch])
    assert_type(
        ndd.random_bbox_crop(batch, output_bbox_indices=True), tuple[Batch, Batch, Batch, Batch]
    )
    assert_type(
        ndd.random_bbox_crop(batch, batch, output_bbox_indices=True),
        tuple[Batch, Batch, Batch, Batch, Batch],
    )
    draw = ndd.segmentation.random_object_bbox
    assert_type(draw(batch), tuple[Batch, Batch])
    assert_type(draw(batch, format="box"), Batch)
    assert_type(draw(batch, format="box", output_class=True), tuple[Batch, Batch])
    assert_type(draw(batch, format="start_end", output_class=True), tuple[Batch, Batch, Batch])


def open_number_of_results(batch: Batch, numbers: list[int]) -> None:
    """As many results as a list has items."""
    assert_type(ndd.element_extract(batch, element_map=3), Batch)
    assert_type(ndd.element_extract(batch, element_map=(2, 0)), Some)
    assert_type(ndd.element_extract(batch, element_map=numbers), Unknown)


def functions(tensor: Tensor, batch: Batch) -> None:
    """Mathematical functions and reductions."""
    assert_type(ndd.math.sqrt(batch), Batch)
    assert_type(ndd.math.sqrt(tensor), Tensor)
    assert_type(ndd.math.sqrt(2.0), Tensor)
    assert_type(ndd.math.max(tensor, batch), Batch)
    assert_type(ndd.math.clamp(tensor, 0, 1), Tensor)
    assert_type(ndd.reductions.mean(batch, axes=[0, 1]), Batch)
    assert_type(ndd.reductions.sum(tensor, axes=0), Tensor)


def scenes(scene: Scene, batch: Batch) -> None:
    """A scene goes through as an image does."""
    assert_type(Scene(image=batch, boxes=batch, labels=[[1]], note="x"), Scene)
    assert_type(ndd.flip(scene, horizontal=batch), Scene)
    assert_type(ndd.rotate(scene, angle=20.0), Scene)
    assert_type(ndd.warp_affine(scene, batch), Scene)
    assert_type(ndd.experimental.warp_perspective(scene, matrix=batch), Scene)
    assert_type(ndd.noise.gaussian(scene, stddev=3.0), Scene)
    assert_type(ndd.resize(scene, size=[4, 4], save_attrs=True), tuple[Scene, Tensor | Batch])
    assert_type(ndd.random_bbox_crop(scene), Scene)
    assert_type(scene[0], Scene)
    assert_type(ndd.mosaic(scene), Scene)
    assert_type(ndd.mosaic(scene, batch, num_classes=3), tuple[Scene, Tensor | Batch])
    assert_type(ndd.copy_paste(scene), Scene)
