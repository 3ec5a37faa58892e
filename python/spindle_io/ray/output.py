# SPDX-License-Identifier: MIT
"""The folder of the result: written aside, and renamed as a whole."""

from __future__ import annotations

import os
import shutil
import uuid


class Folder:
    """Parts go to .path; commit() gives them their folder's name, close() removes what is left."""

    def __init__(self, name: str, overwrite: bool):
        self.name = os.path.abspath(name)
        if os.path.lexists(self.name):
            if not os.path.isdir(self.name):
                raise ValueError(f"{name}: not a folder")
            if os.listdir(self.name) and not overwrite:
                raise ValueError(f"{name}: not empty; --overwrite replaces it")
        parent, last = os.path.split(self.name)
        self._tag = os.path.join(parent, f".{last}.spindle-ray-{uuid.uuid4().hex}")
        self.path = f"{self._tag}.new"
        os.mkdir(self.path)

    def commit(self) -> None:
        old = f"{self._tag}.old"
        if os.path.lexists(self.name):
            os.rename(self.name, old)
        os.rename(self.path, self.name)
        shutil.rmtree(old, ignore_errors=True)

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()
