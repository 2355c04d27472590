# SPDX-License-Identifier: Apache-2.0
"""Random numbers: generators and distributions.

Draws depend on the generator's seed, the number of calls made with it, and the position in the
batch; never on threads or evaluation modes. They are those of DALI for the same program.
"""

from ._engine.rng import RNG, get_default_rng, set_seed
from ._ops.random import beta, choice, coin_flip, normal, uniform
from ._public import publish as _publish

__all__ = [
    "RNG",
    "beta",
    "choice",
    "coin_flip",
    "get_default_rng",
    "normal",
    "set_seed",
    "uniform",
]

_publish(globals())
