# SPDX-License-Identifier: Apache-2.0
"""Eight devices, whatever the machine has; said before JAX is loaded."""

from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"
