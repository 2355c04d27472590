# SPDX-License-Identifier: Apache-2.0
"""Files on this machine, or anywhere that fsspec reaches: http://, s3://, memory://, ..."""

from __future__ import annotations

import errno
import functools
import io
import os
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from urllib.parse import unquote

from ... import _kernels
from ..._engine.errors import OpError
from ..._engine.file_size import check_file_size, read_file

Result = TypeVar("Result")

# How often to try, and the seconds before the second attempt; each wait is twice the one before.
_ATTEMPTS = 6
_FIRST_WAIT = 0.05
# How many seconds a web server may be silent before the connection counts as broken.
_SILENCE = 30.0
# How many files are read at the same time: most of the time is spent waiting.
_CONNECTIONS = 16
# Files that others read through a file object are read in pieces of at least so many bytes.
_BUFFER_BYTES = 1 << 18
# Trying again would not help.
_FINAL = (
    FileNotFoundError,
    PermissionError,
    IsADirectoryError,
    NotADirectoryError,
    NotImplementedError,
    ImportError,
    TypeError,
    ValueError,
)
_TOO_MANY_REQUESTS, _REQUEST_TIMEOUT = 429, 408


def is_url(path: str) -> bool:
    """Whether a path leads away from this machine's own files."""
    return "://" in path and not path.startswith("file://")


def join(folder: str, name: str) -> str:
    """The path of a file in a folder."""
    if is_url(name):
        return name
    if is_url(folder):
        return f"{folder.rstrip('/')}/{name.removeprefix('./')}"
    return os.path.join(folder, name)


def is_below(folder: str, name: str) -> bool:
    """Whether a name, joined with a folder, leads to something in the folder."""
    if not name.startswith("/") and ".." not in name and "://" not in name and "%" not in name:
        return True
    if is_url(folder):
        beginning = folder.rstrip("/") + "/"
        path = join(folder, name)
        rest = path.removeprefix(beginning)
        return path.startswith(beginning) and ".." not in unquote(rest).split("/")
    if is_url(name):
        return False
    root = os.path.abspath(folder.removeprefix("file://"))
    path = os.path.join(root, name.removeprefix("file://"))
    if ".." in path.split(os.sep):
        # Where this leads depends on links on the way.
        root, path = os.path.realpath(root), os.path.realpath(path)
    plain = os.sep + os.path.normpath(path).lstrip(os.sep)
    return plain.startswith(root.rstrip(os.sep) + os.sep)


def outside_error(folder: str) -> OpError:
    """What is wrong with a name that leads out of a folder."""
    return OpError(
        f'it lies outside of "{folder or os.curdir}"; allow_outside=True reads it all the same'
    )


def list_folder(path: str) -> tuple[list[str], list[str]]:
    """The names of files and of folders in a folder, in any order. Raises OSError."""
    if not is_url(path):
        with os.scandir(path) as scan:
            entries = list(scan)
        # A link that leads nowhere is listed: it should be noticed when it is read.
        files = [e.name for e in entries if e.is_file(follow_symlinks=False) or e.is_symlink()]
        return files, [e.name for e in entries if _is_folder(e)]
    system, root = _system(path.rstrip("/") + "/")
    names: dict[bool, list[str]] = {False: [], True: []}
    for found in _persistently(path, lambda: system.ls(root, detail=True)):
        name = found["name"].rstrip("/").rpartition("/")[2]
        # Some systems list the folder itself, and some pages have links to other orders.
        if name and not name.startswith("?") and found["name"].strip("/") != root.strip("/"):
            names[found["type"] == "directory"].append(name)
    return names[False], names[True]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder, or leads to one: links in a circle do not."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def read(path: str, begin: int = 0, count: int | None = None) -> bytes:
    """The bytes of a file, or `count` of them from `begin` on: fewer at its end. Raises OSError."""
    if not is_url(path):
        local = path.removeprefix("file://")
        content: bytes = _kernels.read_file(read_file, local, begin, count)
        return content
    system, name = _system(path)
    if begin == 0 and count is None:
        content = _persistently(path, lambda: bytes(system.cat_file(name)))
        check_file_size(path, len(content))
        return content
    end = None if count is None else begin + count
    return _persistently(path, lambda: bytes(system.cat_file(name, start=begin, end=end)))


def read_all(paths: Sequence[str]) -> list[bytes | Exception]:
    """The contents of files, or why they cannot be read; several at the same time."""

    def attempt(path: str) -> bytes | Exception:
        try:
            return read(path)
        except (OSError, ValueError) as error:
            return error

    if len(paths) == 1:
        return [attempt(paths[0])]
    from concurrent.futures import ThreadPoolExecutor

    team = _kernels.Team()
    with ThreadPoolExecutor(min(_CONNECTIONS, len(paths)), "daliesque storage") as pool:
        contents = list(pool.map(functools.partial(team.call, attempt), paths))
    team.end()
    return contents


class RemoteFile:
    """A file elsewhere, of which several threads read pieces. Raises OSError if there is none."""

    def __init__(self, url: str) -> None:
        self._url = url
        system, name = _system(url)
        size = _persistently(url, lambda: system.size(name))
        if size is None:
            raise OSError(errno.ENOTSUP, "the size of the file is not known", url)
        self.size = int(size)

    def read_at(self, offset: int, size: int) -> bytes:
        """Return `size` bytes from `offset` on. Raises OSError, also if there are fewer."""

        def attempt() -> bytes:
            data = bytes(system.cat_file(name, start=offset, end=offset + size))
            if len(data) != size:
                # A server that knows no ranges sends everything.
                if len(data) == self.size:
                    return data[offset : offset + size]
                msg = f"{len(data)} bytes came instead of {size}"
                raise ConnectionError(msg)
            return data

        system, name = _system(self._url)
        return _persistently(self._url, attempt) if size else b""


def _options(url: str) -> dict[str, Any]:
    """What fsspec is to know about a file system: by itself it waits for minutes."""
    if not url.startswith(("http://", "https://")):
        return {}
    import aiohttp

    silence = aiohttp.ClientTimeout(total=None, sock_connect=_SILENCE, sock_read=_SILENCE)
    return {"client_kwargs": {"timeout": silence}}


@functools.lru_cache(maxsize=1024)
def _system(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the name of the file there."""
    try:
        import fsspec
    except ImportError:
        msg = f'"{url}": URLs need the package fsspec. Install daliesque[remote].'
        raise ImportError(msg) from None
    try:
        system, name = fsspec.core.url_to_fs(url, **_options(url))
    except ImportError as error:
        msg = f'"{url}": {error}'
        raise ImportError(msg) from error
    except ValueError as error:
        raise OSError(errno.EPROTONOSUPPORT, str(error), url) from error
    return system, name


def _persistently(url: str, attempt: Callable[[], Result]) -> Result:
    """The result of a function, which is called again if the connection broke.

    What it raises in the end becomes an OSError, unless it is one or trying again cannot help.
    """
    wait = _FIRST_WAIT
    for left in reversed(range(_ATTEMPTS)):
        try:
            result: Result = _kernels.read_file(attempt)
            return result
        except Exception as error:
            status = getattr(error, "status", None)
            refused = (
                isinstance(status, int)
                and 400 <= status < 500
                and status not in (_TOO_MANY_REQUESTS, _REQUEST_TIMEOUT)
            )
            if isinstance(error, FileNotFoundError):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), url) from error
            if isinstance(error, _FINAL):
                raise
            if refused or left == 0:
                reason = f"{type(error).__name__}: {error}".rstrip(": ")
                times = "" if refused else f" after {_ATTEMPTS} attempts"
                raise OSError(errno.EIO, reason + times, url) from error
        time.sleep(wait)
        wait *= 2
    raise AssertionError


class _RawRemoteFile(io.RawIOBase):
    """A file elsewhere as Python's own files are."""

    def __init__(self, url: str) -> None:
        self._file = RemoteFile(url)
        self._offset = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._offset

    def seek(self, offset: int, whence: int = 0) -> int:
        self._offset = offset + (0, self._offset, self._file.size)[whence]
        return self._offset

    def readinto(self, buffer: Any) -> int:
        count = max(0, min(len(buffer), self._file.size - self._offset))
        buffer[:count] = self._file.read_at(self._offset, count)
        self._offset += count
        return count


def open_binary(url: str) -> io.BufferedReader:
    """A file elsewhere, open for reading. Raises OSError."""
    return io.BufferedReader(_RawRemoteFile(url), _BUFFER_BYTES)
