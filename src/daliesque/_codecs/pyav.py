# SPDX-License-Identifier: Apache-2.0
"""PyAV, which is optional: it brings FFmpeg."""

try:
    import av
    import av.video.reformatter as reformatter
except ModuleNotFoundError as error:
    msg = "videos are decoded by PyAV, which is not installed. Run: pip install daliesque[video]"
    raise ModuleNotFoundError(msg, name="av") from error

__all__ = ["av", "reformatter"]
