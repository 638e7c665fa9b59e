"""Puts the program into a wheel: LATLAB_PROGRAM is its file, LATLAB_WHEEL_TAG the tag of the wheel.

In a clone it is the program that `make` has built.
"""

import os
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProgramHook(BuildHookInterface[Any]):
    """Without a program the wheel has only the Python package, which uses `latlab` in PATH."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        program = os.environ.get("LATLAB_PROGRAM")
        if program:
            tag = os.environ["LATLAB_WHEEL_TAG"]
        else:
            built = Path(self.root).parent / "target" / "latlab"
            # An editable install leaves the program where it is.
            if version != "standard" or not built.is_file():
                return
            program = str(built)
            tag = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["shared_scripts"][program] = "latlab"
        build_data["pure_python"] = False
        build_data["tag"] = tag
