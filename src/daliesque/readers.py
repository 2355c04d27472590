# SPDX-License-Identifier: Apache-2.0
"""Readers: data from storage, epoch by epoch::

    reader = ndd.readers.File(file_root="train", random_shuffle=True)
    for contents, labels in reader.next_epoch(batch_size=64):
        ...

All readers share the arguments and methods of `Reader`. The same arguments give the same samples in
the same order as in DALI.

Paths may also be URLs (http://, s3://, memory://, ...) of all kinds that fsspec knows; install
daliesque[remote]. Reads that fail because a connection broke are repeated.
"""

from ._engine.file_size import set_max_file_size
from ._public import publish as _publish
from ._readers.caffe import Caffe, Caffe2
from ._readers.coco import COCO
from ._readers.core.bad_samples import ReadError
from ._readers.core.base import Reader
from ._readers.core.epoch import Epoch
from ._readers.core.options import ReaderMeta
from ._readers.core.source import Fetched
from ._readers.core.state import ReaderState
from ._readers.file import File
from ._readers.huggingface import HuggingFace
from ._readers.mxnet import MXNet
from ._readers.nemo_asr import NemoAsr
from ._readers.npy import Numpy
from ._readers.parquet import Parquet
from ._readers.python import Python
from ._readers.tfrecord import TFRecord
from ._readers.video import Video, VideoResize
from ._readers.webdataset import Webdataset

__all__ = [
    "COCO",
    "Caffe",
    "Caffe2",
    "Epoch",
    "Fetched",
    "File",
    "HuggingFace",
    "MXNet",
    "NemoAsr",
    "Numpy",
    "Parquet",
    "Python",
    "ReadError",
    "Reader",
    "ReaderMeta",
    "ReaderState",
    "TFRecord",
    "Video",
    "VideoResize",
    "Webdataset",
    "set_max_file_size",
]

_publish(globals())
