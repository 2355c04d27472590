# SPDX-License-Identifier: Apache-2.0
"""Keeps what is costly to make: indexes of video files, and open decoders."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import NamedTuple

from .video import VideoDecoder
from .video_file import VideoFile, VideoIndex, read_index

# Indexes stay in memory up to so many frames in all: about 100 MB.
_MOST_FRAMES = 4_000_000


class FileVersion(NamedTuple):
    """A file as it is now."""

    path: str
    size: int
    modified: int


def version_of(path: str) -> FileVersion:
    """What changes whenever a file changes. Raises OSError."""
    status = os.stat(path)
    return FileVersion(path, status.st_size, status.st_mtime_ns)


class _Indexes:
    """The indexes used last; shared by all readers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[FileVersion, VideoIndex] = OrderedDict()
        self._frames = 0

    def unlock(self) -> None:
        self._lock = threading.Lock()

    def find(self, version: FileVersion) -> VideoIndex | None:
        with self._lock:
            index = self._known.get(version)
            if index is not None:
                self._known.move_to_end(version)
            return index

    def add(self, version: FileVersion, index: VideoIndex) -> None:
        with self._lock:
            if version in self._known:
                return
            self._known[version] = index
            self._frames += index.frame_count
            while self._frames > _MOST_FRAMES and len(self._known) > 1:
                _, oldest = self._known.popitem(last=False)
                self._frames -= oldest.frame_count


_indexes = _Indexes()
# A lock that is held while the process forks would stay locked in the child.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_indexes.unlock)


def index_of(path: str) -> VideoIndex:
    """The index of a file. Raises CodecError or OSError."""
    version = version_of(path)
    index = _indexes.find(version)
    if index is None:
        file = VideoFile(path, threads=1)
        try:
            index = read_index(file)
        finally:
            file.close()
        _indexes.add(version, index)
    return index


class DecoderPool:
    """Open decoders that wait for more work, at most `most` of them.

    They keep the `keep` frames delivered last, for clips that overlap.
    """

    def __init__(self, most: int, keep: int) -> None:
        self._most = most
        self.keep = keep
        self._lock = threading.Lock()
        self._idle: list[tuple[FileVersion, VideoDecoder]] = []
        self._process = os.getpid()

    def take(self, path: str, first: int, threads: int) -> tuple[FileVersion, VideoDecoder]:
        """A decoder for a file, if possible one that comes to frame `first` next."""
        version = version_of(path)
        if os.getpid() == self._process:
            with self._lock:
                fitting = [item for item in self._idle if item[0] == version]
                if fitting:
                    # If all have to seek, this is the one that has waited longest.
                    best = max(fitting, key=lambda item: item[1].position_for(first))
                    self._idle.remove(best)
                    return best
        index = _indexes.find(version)
        decoder = VideoDecoder(path, index, threads, self.keep)
        if index is None:
            _indexes.add(version, decoder.index)
        return version, decoder

    def give(self, version: FileVersion, decoder: VideoDecoder) -> None:
        """Keep a decoder for later, in place of the one that has waited longest."""
        if os.getpid() != self._process:
            # Forked off: the idle decoders share their files with the other process, and their
            # threads do not exist here.
            decoder.close()
            return
        with self._lock:
            self._idle.append((version, decoder))
            surplus = [self._idle.pop(0)[1] for _ in range(len(self._idle) - self._most)]
        for old in surplus:
            old.close()

    def close(self) -> None:
        """Close all files."""
        if os.getpid() == self._process:
            with self._lock:
                idle, self._idle = self._idle, []
            for _, decoder in idle:
                decoder.close()
