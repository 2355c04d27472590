# SPDX-License-Identifier: Apache-2.0
"""What all readers share: the base class, epochs, the order of samples, reading ahead."""
