# SPDX-License-Identifier: Apache-2.0
"""A process that decodes, as its parent sees it: started when needed, ended when in doubt."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from .messages import (
    Broken,
    Failure,
    Output,
    Request,
    TooLate,
    pack_request,
    receive,
    receive_answer,
    send,
    write_arrays,
)

# How long a process may take to get ready: it imports the library.
_STARTING_SECONDS = 60.0
_PROGRAM = """
import json, sys
arguments = json.loads(sys.argv[1])
sys.path[:] = arguments.pop("path")
from daliesque._isolated.child import main
main(**arguments)
"""


class Worker:
    """A process that decodes one sample at a time.

    Parameters
    ----------
    memory
        How many bytes it may take, and its results may have.
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._process: subprocess.Popen[bytes] | None = None

    def decode(self, request: Request, inputs: Sequence[NDArray[Any]]) -> list[Output] | Failure:
        """Decode a sample; a process that crashed, or took too long, is a failure like others."""
        try:
            if self._process is None or self._process.poll() is not None:
                self._start()
            described = write_arrays(self._given, inputs)
            deadline = time.monotonic() + request.seconds
            send(self._requests, pack_request(request._replace(inputs=described)), deadline)
            answer = receive_answer(self._answers, self._results, deadline)
        except TooLate:
            self.stop()
            return Failure("DecodeError", f"took longer than {request.seconds:g} s to decode")
        except (Broken, BrokenPipeError):
            return Failure("DecodeError", self._why_it_ended())
        except BaseException:
            # Whoever interrupts leaves an answer behind that nobody waits for.
            self.stop()
            raise
        os.ftruncate(self._results, 0)
        return answer

    def _start(self) -> None:
        self.stop()
        reading, self._requests = os.pipe()
        self._answers, writing = os.pipe()
        self._given = os.memfd_create("daliesque encoded")
        self._results = os.memfd_create("daliesque decoded")
        theirs = (reading, writing, self._given, self._results)
        arguments = {
            "path": sys.path,
            "requests": reading,
            "answers": writing,
            "given": self._given,
            "results": self._results,
            "memory": self._memory,
        }
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, json.dumps(arguments)],
                stdin=subprocess.DEVNULL,
                pass_fds=theirs,
            )
        finally:
            os.close(reading)
            os.close(writing)
        os.set_blocking(self._requests, False)
        # Importing the library does not count as decoding.
        receive(self._answers, 0, time.monotonic() + _STARTING_SECONDS)

    def _why_it_ended(self) -> str:
        """What to say of a process that has closed its pipe; it is ended if it has not."""
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        code = self._process.poll()
        self.stop()
        if code is None:
            return "made its decoder answer nonsense"
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"made its decoder crash ({signal.Signals(-code).name})"
        return f"made its decoder end with the code {code}"

    def kill(self) -> None:
        """End the process, whoever waits for its answer; that one cleans up."""
        process = self._process
        if process is not None:
            process.kill()

    def stop(self) -> None:
        """End the process and forget it; nobody else may be using it."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for descriptor in (self._requests, self._answers, self._given, self._results):
            os.close(descriptor)
