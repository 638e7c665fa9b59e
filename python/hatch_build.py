"""Puts the program into a wheel: LATLAB_PROGRAM is its file, LATLAB_WHEEL_TAG the tag of the wheel."""

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProgramHook(BuildHookInterface[Any]):
    """Without LATLAB_PROGRAM the wheel has the Python package alone, which looks for `latlab` in PATH."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        program = os.environ.get("LATLAB_PROGRAM")
        if program:
            build_data["shared_scripts"][program] = "latlab"
            build_data["pure_python"] = False
            build_data["tag"] = os.environ["LATLAB_WHEEL_TAG"]
