# SPDX-License-Identifier: Apache-2.0
# Written by tools/stubs.py.

from collections.abc import Sequence
from typing import Any, Protocol

import numpy
import numpy.typing
from numpy.typing import NDArray

from .._kernels import (
    Border,
    Curve,
    Demosaic,
    PhiloxState,
    Rank,
    Reduction,
    ResizeGeometry,
    SignalPadding,
    SignalStart,
    WarpInterp,
)
from .samples import Samples

class Kernels(Protocol):
    """The functions for data on a device."""
    def empty(
        self, type_id: int, shapes: NDArray[numpy.int64], layout: str, count: int
    ) -> Samples: ...
    def empty_uniform(
        self, type_id: int, shape: Sequence[int], layout: str, count: int
    ) -> Samples: ...
    def join(self, parts: list[Samples]) -> Samples: ...
    def cast(self, samples: Samples, type_id: int) -> Samples: ...
    def uniform(
        self, out: Samples, state: PhiloxState, range: numpy.typing.NDArray[Any]
    ) -> None: ...
    def uniform_values(self, out: Samples, state: PhiloxState, values: Samples) -> None: ...
    def normal(
        self,
        out: Samples,
        state: PhiloxState,
        mean: numpy.typing.NDArray[Any],
        stddev: numpy.typing.NDArray[Any],
    ) -> None: ...
    def coin_flip(
        self, out: Samples, state: PhiloxState, probability: numpy.typing.NDArray[Any]
    ) -> None: ...
    def beta(
        self,
        out: Samples,
        state: PhiloxState,
        alpha: numpy.typing.NDArray[Any],
        beta: numpy.typing.NDArray[Any],
    ) -> None: ...
    def choice(
        self, out: Samples, state: PhiloxState, entries: Samples, weights: Samples | None
    ) -> None: ...
    def batch_permutation(
        self, out: Samples, state: PhiloxState, repetitions: bool, no_fixed_points: bool
    ) -> None: ...
    def roi_random_crop(
        self,
        out: Samples,
        state: PhiloxState,
        crop: numpy.typing.NDArray[Any],
        roi_start: numpy.typing.NDArray[Any],
        roi_shape: numpy.typing.NDArray[Any],
        input_shape: numpy.typing.NDArray[Any] | None,
    ) -> None: ...
    def arithmetic(self, name: str, operands: list[Samples]) -> Samples: ...
    def arithmetic_expression(
        self, names: list[str], operands: list[list[int]], inputs: list[Samples]
    ) -> Samples: ...
    def concatenate(self, parts: list[Samples], axis: int, layout: str) -> Samples: ...
    def fill(self, out: Samples, values: Samples) -> None: ...
    def one_hot(
        self,
        input: Samples,
        type_id: int,
        shapes: NDArray[numpy.int64],
        layout: str,
        axis: int,
        values: Samples,
    ) -> Samples: ...
    def reduce(
        self,
        samples: Samples,
        kind: Reduction,
        type_id: int,
        reduced: Sequence[bool],
        keep_dims: bool,
        layout: str,
        means: Samples | None,
        ddof: int,
    ) -> Samples: ...
    def slice(
        self,
        samples: Samples,
        type_id: int,
        anchors: numpy.typing.NDArray[Any],
        shapes: numpy.typing.NDArray[Any],
        border: Border,
        fill: numpy.typing.NDArray[Any],
        channel_axis: int,
    ) -> Samples: ...
    def transpose(self, samples: Samples, permutation: Sequence[int], layout: str) -> Samples: ...
    def normalize(
        self,
        samples: Samples,
        type_id: int,
        means: Samples | None,
        factors: Samples | None,
        reduced: Sequence[bool],
        batch: bool,
        ddof: int,
        epsilon: float,
        scale: float,
        shift: float,
    ) -> Samples: ...
    def deviation_factors(self, deviations: Samples, epsilon: float, scale: float) -> Samples: ...
    def look_up(self, samples: Samples, table: Samples, otherwise: Samples) -> Samples: ...
    def brightness_contrast(
        self,
        samples: Samples,
        type_id: int,
        brightness: numpy.typing.NDArray[Any],
        shift: numpy.typing.NDArray[Any],
        contrast: numpy.typing.NDArray[Any],
        center: numpy.typing.NDArray[Any] | None,
    ) -> Samples: ...
    def color_twist(
        self,
        samples: Samples,
        type_id: int,
        hue: numpy.typing.NDArray[Any],
        saturation: numpy.typing.NDArray[Any],
        value: numpy.typing.NDArray[Any],
        brightness: numpy.typing.NDArray[Any],
        contrast: numpy.typing.NDArray[Any],
    ) -> Samples: ...
    def convert_color_space(self, samples: Samples, target: int, source: int) -> Samples: ...
    def equalize(self, samples: Samples, outer: int) -> Samples: ...
    def clahe(
        self, samples: Samples, tiles_x: int, tiles_y: int, clip_limit: float, luma_only: bool
    ) -> Samples: ...
    def debayer(
        self,
        out: Samples,
        samples: Samples,
        blue_position: numpy.typing.NDArray[Any],
        algorithm: Demosaic,
    ) -> None: ...
    def erase(
        self,
        samples: Samples,
        offsets: numpy.typing.NDArray[Any],
        bounds: numpy.typing.NDArray[Any],
        fill: numpy.typing.NDArray[Any],
        channel_axis: int,
    ) -> Samples: ...
    def grid_mask(
        self,
        samples: Samples,
        tile: numpy.typing.NDArray[Any],
        ratio: numpy.typing.NDArray[Any],
        angle: numpy.typing.NDArray[Any],
        shift_x: numpy.typing.NDArray[Any],
        shift_y: numpy.typing.NDArray[Any],
    ) -> Samples: ...
    def multi_paste(
        self,
        inputs: Sequence[Samples],
        type_id: int,
        shapes: numpy.typing.NDArray[Any],
        offsets: numpy.typing.NDArray[Any],
        patches: numpy.typing.NDArray[Any],
    ) -> Samples: ...
    def gaussian_blur(
        self,
        samples: Samples,
        type_id: int,
        axes: tuple[int, int, bool],
        sigma: numpy.typing.NDArray[Any],
        window_size: numpy.typing.NDArray[Any],
    ) -> Samples: ...
    def laplacian(
        self,
        samples: Samples,
        type_id: int,
        axes: tuple[int, int, bool],
        window_size: numpy.typing.NDArray[Any],
        smoothing_size: numpy.typing.NDArray[Any] | None,
        scale: numpy.typing.NDArray[Any],
        normalized: bool,
    ) -> Samples: ...
    def filter(
        self,
        out: Samples,
        samples: Samples,
        axes: tuple[int, int, bool],
        kernels: Samples,
        anchor: numpy.typing.NDArray[Any],
        border: Border,
        fill: numpy.typing.NDArray[Any],
    ) -> None: ...
    def rank_filter(
        self,
        samples: Samples,
        axes: tuple[int, int, bool],
        rank: Rank,
        window: numpy.typing.NDArray[Any],
        anchor: numpy.typing.NDArray[Any],
        border: Border,
    ) -> Samples: ...
    def gaussian_noise(
        self,
        samples: Samples,
        state: PhiloxState,
        mean: numpy.typing.NDArray[Any],
        stddev: numpy.typing.NDArray[Any],
    ) -> Samples: ...
    def salt_and_pepper_noise(
        self,
        samples: Samples,
        state: PhiloxState,
        probability: numpy.typing.NDArray[Any],
        salt_vs_pepper: numpy.typing.NDArray[Any],
        salt: numpy.typing.NDArray[Any] | None,
        pepper: numpy.typing.NDArray[Any] | None,
        channel_axis: int,
    ) -> Samples: ...
    def shot_noise(
        self, samples: Samples, state: PhiloxState, factor: numpy.typing.NDArray[Any]
    ) -> Samples: ...
    def flip(
        self,
        samples: Samples,
        horizontal: numpy.typing.NDArray[Any],
        vertical: numpy.typing.NDArray[Any],
        depthwise: numpy.typing.NDArray[Any],
    ) -> Samples: ...
    def crop_mirror_normalize(
        self,
        samples: Samples,
        type_id: int,
        anchors: numpy.typing.NDArray[Any],
        shapes: numpy.typing.NDArray[Any],
        permutation: Sequence[int],
        layout: str,
        mirror: numpy.typing.NDArray[Any],
        mean: numpy.typing.NDArray[Any],
        std: numpy.typing.NDArray[Any],
        scale: float,
        shift: float,
        fill: numpy.typing.NDArray[Any],
        width_axis: int,
        channel_axis: int,
    ) -> Samples: ...
    def warp_affine(
        self,
        samples: Samples,
        type_id: int,
        sizes: numpy.typing.NDArray[Any],
        matrices: numpy.typing.NDArray[Any],
        interp: WarpInterp,
        border: Border,
        fill: Sequence[float],
    ) -> Samples: ...
    def warp_perspective(
        self,
        samples: Samples,
        sizes: numpy.typing.NDArray[Any],
        matrices: numpy.typing.NDArray[Any],
        interp: WarpInterp,
        border: Border,
        fill: Sequence[float],
    ) -> Samples: ...
    def warp_map(
        self,
        samples: Samples,
        x: Samples,
        y: Samples,
        sizes: numpy.typing.NDArray[Any],
        shift: float,
        interp: WarpInterp,
    ) -> Samples: ...
    def sphere(
        self, samples: Samples, mask: numpy.typing.NDArray[Any], interp: WarpInterp, fill: float
    ) -> Samples: ...
    def jitter(
        self, samples: Samples, state: PhiloxState, mask: numpy.typing.NDArray[Any], degree: int
    ) -> Samples: ...
    def water(
        self,
        samples: Samples,
        mask: numpy.typing.NDArray[Any],
        interp: WarpInterp,
        fill: float,
        x: Sequence[float],
        y: Sequence[float],
    ) -> Samples: ...
    def apply_curve(
        self, samples: Samples, curve: Curve, parameters: numpy.typing.NDArray[Any], outer: int
    ) -> Samples: ...
    def augment(
        self,
        samples: Samples,
        kinds: numpy.typing.NDArray[Any],
        parameters: numpy.typing.NDArray[Any],
        matrices: numpy.typing.NDArray[Any],
        interp: WarpInterp,
        border: Border,
        fill: Sequence[float],
    ) -> Samples: ...
    def autocontrast(self, samples: Samples, outer: int) -> Samples: ...
    def mean_contrast(self, samples: Samples, factor: numpy.typing.NDArray[Any]) -> Samples: ...
    def mix(self, inputs: Sequence[Samples], weights: numpy.typing.NDArray[Any]) -> Samples: ...
    def overlay(self, samples: Samples, over: Samples, mask: Samples) -> Samples: ...
    def reorder_channels(self, samples: Samples, order: numpy.typing.NDArray[Any]) -> Samples: ...
    def warp_flow(
        self,
        samples: Samples,
        flow: Samples,
        scale: numpy.typing.NDArray[Any],
        interp: WarpInterp,
        border: Border,
        fill: Sequence[float],
    ) -> Samples: ...
    def warp_grid(
        self,
        samples: Samples,
        nodes: Samples,
        interp: WarpInterp,
        border: Border,
        fill: Sequence[float],
    ) -> Samples: ...
    def resize(
        self,
        samples: Samples,
        type_id: int,
        first_axis: int,
        geometry: ResizeGeometry,
        min_filters: numpy.typing.NDArray[Any],
        mag_filters: numpy.typing.NDArray[Any],
        antialias: bool,
    ) -> Samples: ...
    def jpeg_distortion(self, samples: Samples, quality: numpy.typing.NDArray[Any]) -> Samples: ...
    def image_texts(self, images: Samples) -> Samples: ...
    def spectrogram(
        self,
        out: Samples,
        samples: Samples,
        nfft: int,
        window: numpy.typing.NDArray[Any],
        window_step: int,
        padding: SignalPadding,
        magnitude: bool,
        time_major: bool,
    ) -> None: ...
    def power_spectrum(
        self, out: Samples, samples: Samples, axis: int, nfft: int, magnitude: bool
    ) -> None: ...
    def mel_filter_bank(
        self,
        out: Samples,
        samples: Samples,
        axis: int,
        filters: int,
        sample_rate: float,
        low: float,
        high: float,
        htk: bool,
        normalize: bool,
    ) -> None: ...
    def multiply_axis(
        self, out: Samples, samples: Samples, axis: int, tables: Sequence[numpy.typing.NDArray[Any]]
    ) -> None: ...
    def to_decibels(
        self, out: Samples, samples: Samples, multiplier: float, reference: float, min_ratio: float
    ) -> None: ...
    def audio_resample(
        self, out: Samples, samples: Samples, steps: numpy.typing.NDArray[Any], lobes: int
    ) -> None: ...
    def preemphasis_filter(
        self,
        out: Samples,
        samples: Samples,
        coefficient: numpy.typing.NDArray[Any],
        start: SignalStart,
    ) -> None: ...
    def nonsilent_region(
        self,
        begin: Samples,
        length: Samples,
        samples: Samples,
        cutoff_db: float,
        reference_power: float,
        window_length: int,
        reset_interval: int,
    ) -> None: ...
    def random_object_bbox(
        self,
        starts: Samples,
        ends: Samples,
        classes: Samples,
        state: PhiloxState,
        masks: Samples,
        foreground_prob: numpy.typing.NDArray[Any],
        background: numpy.typing.NDArray[Any] | None,
        class_list: Samples | None,
        weights: Samples | None,
        threshold: numpy.typing.NDArray[Any] | None,
        k_largest: int,
        ignore_class: bool,
    ) -> None: ...
    def random_mask_pixel(
        self,
        out: Samples,
        state: PhiloxState,
        masks: Samples,
        foreground: numpy.typing.NDArray[Any],
        value: numpy.typing.NDArray[Any] | None,
        threshold: numpy.typing.NDArray[Any],
    ) -> None: ...
    def encode_boxes(
        self,
        out_boxes: Samples,
        out_labels: Samples,
        boxes: Samples,
        labels: Samples,
        anchors: Samples,
        criteria: float,
        offset: bool,
        scale: float,
        means: numpy.typing.NDArray[Any],
        stds: numpy.typing.NDArray[Any],
    ) -> None: ...
    def select_polygons(
        self, masks: Samples, polygons: Samples, vertices: Samples, renumber: bool
    ) -> tuple[Samples, Samples, int, str]: ...
    def transform_points(
        self,
        out: Samples,
        input: Samples,
        matrix: numpy.typing.NDArray[Any],
        translation: numpy.typing.NDArray[Any],
    ) -> None: ...
