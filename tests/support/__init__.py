# SPDX-License-Identifier: Apache-2.0
"""What tests share: data, checks, references and ways to call operators."""
