# SPDX-License-Identifier: Apache-2.0
"""Decoders in processes of their own.

`decoders` is what users see. It hands single samples to a few `worker`s; each of them drives one
process, whose program is `child`. Both sides speak in the `messages` of their own module: what
comes back from a child is data, never code, since the file that it decodes may have taken it over.
"""
