# SPDX-License-Identifier: Apache-2.0
"""Random number generators and operators."""

from ._engine.rng import RNG, get_default_rng, set_seed

__all__ = ["RNG", "get_default_rng", "set_seed"]
