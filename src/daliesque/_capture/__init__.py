# SPDX-License-Identifier: Apache-2.0
"""Capture-mode loops: a step is traced, and the ones after it run ahead as a plan.

`loop.py` follows a loop from step to step, `recording.py` makes the calls of its body. `sites.py`
says where a call stands in the program, `source_code.py` and `constants.py` prove that its
arguments are constant. `plan.py` holds the recorded calls and runs them, `ahead.py` does so on a
thread, and `randomness.py` gives them the random numbers of the steps that they belong to.
`values.py` has `CapturedBatch`.
"""
