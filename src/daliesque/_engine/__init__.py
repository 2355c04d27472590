# SPDX-License-Identifier: Apache-2.0
"""The engine: data types, execution, conversion and the operator decorator."""
