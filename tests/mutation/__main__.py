# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applies each mutation to a copy of the tree, runs its guards there, and ends with 0 when they went red every time.

The checkout is never written to. All guards run once on a copy that nothing was taken out of, and must be green. A
guard that errs (for want of a name, a database, a fixture) instead of failing proves nothing, and counts as broken.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from queue import SimpleQueue

from ansible_collections.better_compute.fleet.tests.support.tree_copy import copy_tree

from .mutations import MUTATIONS, Mutation

_COPIES = 2
"""That many at once: each has a copy of its own."""

_LONGEST_SECONDS = 300.0
"""For one mutation's guards: they take a few seconds. A mutant that waits for ever is no proof."""

_PROBE = (
    "import ansible_collections.better_compute.fleet.plugins.module_utils._core.store as store; print(store.__file__)"
)


class Copy:
    """A copy of the tree, importable under the collection's name, and the checkout is not."""

    def __init__(self, folder: Path) -> None:
        """Copy the tree.

        Raises:
            RuntimeError: Python finds the product elsewhere than in the copy.
        """
        self.tree = folder / "tree"
        copy_tree(self.tree)
        link = self.tree / "build" / "ansible_collections" / "better_compute" / "fleet"
        link.parent.mkdir(parents=True)
        link.symlink_to(self.tree)
        paths = (str(self.tree / "build"), str(self.tree / "agent"))
        # No guard needs a plugin of pytest's, and they take longer to import than most guards to run.
        alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        self._environment = {**os.environ, **alone, "PYTHONPATH": os.pathsep.join(paths)}
        self._edits = count(1)
        self._results = folder / "results.xml"
        found = self._python("-c", _PROBE).stdout.strip()
        if not found.startswith(str(self.tree)):
            raise RuntimeError(f"the copy in {self.tree} is not what Python imports, but {found}")

    def verdict(self, guards: Sequence[str]) -> tuple[str, str]:
        """Run tests: "green", "red" when each failed, "partly" when some did, or "broken"; and what was printed."""
        self._results.unlink(missing_ok=True)
        arguments = (
            "-q",
            "--tb=short",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            f"--junitxml={self._results}",
            *guards,
        )
        try:
            done = self._python("-m", "pytest", *arguments)
        except subprocess.TimeoutExpired:
            return "broken", f"no end within {_LONGEST_SECONDS:g} s"
        if done.returncode not in (0, 1) or not self._results.exists():
            return "broken", done.stdout + done.stderr
        # Written by the pytest that we ran a moment ago.
        cases = list(ET.parse(self._results).getroot().iter("testcase"))
        if not cases or any(case.find("error") is not None or case.find("skipped") is not None for case in cases):
            return "broken", done.stdout
        failed = {str(case.get("name")).partition("[")[0] for case in cases if case.find("failure") is not None}
        if not failed:
            return "green", done.stdout
        missed = [guard for guard in guards if guard.rpartition("::")[2] not in failed]
        return ("partly" if missed else "red"), "\n".join((*missed, done.stdout))

    def mutated(self, mutation: Mutation) -> tuple[str, str]:
        """Take out what the mutation says, run its guards, and put it back."""
        whole = {edit.file: (self.tree / edit.file).read_text(encoding="utf-8") for edit in mutation.edits}
        moved = [edit.file for edit in mutation.edits if whole[edit.file].count(edit.old) != 1]
        if moved:
            return (
                "broken",
                f"does not fit exactly one place of {', '.join(moved)}: the code has moved, mend mutations.py",
            )
        try:
            for edit in mutation.edits:
                self._write(edit.file, (self.tree / edit.file).read_text(encoding="utf-8").replace(edit.old, edit.new))
            return self.verdict(mutation.guards)
        finally:
            for name, text in whole.items():
                self._write(name, text)

    def _write(self, name: str, text: str) -> None:
        """Each time with another time stamp: Python takes compiled code for current by its source's second and size."""
        file = self.tree / name
        file.write_text(text, encoding="utf-8")
        moment = next(self._edits)
        os.utime(file, (moment, moment))

    def _python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.tree,
            env=self._environment,
            check=False,
            capture_output=True,
            text=True,
            timeout=_LONGEST_SECONDS,
        )


_TOLD = {"red": "noticed", "green": "SURVIVED", "partly": "SURVIVED", "broken": "BROKEN"}


def main() -> int:
    """The whole check; the exit status."""
    began = time.monotonic()
    guards = sorted({guard for mutation in MUTATIONS for guard in mutation.guards})
    with tempfile.TemporaryDirectory(prefix="bc-mutation-") as folder:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(_COPIES):
            copies.put(Copy(Path(folder, str(number))))

        def try_one(mutation: Mutation | None) -> tuple[str, str, float]:
            copy, started = copies.get(), time.monotonic()
            try:
                verdict, printed = copy.verdict(guards) if mutation is None else copy.mutated(mutation)
            finally:
                copies.put(copy)
            return verdict, printed, time.monotonic() - started

        with ThreadPoolExecutor(max_workers=_COPIES) as threads:
            results = [*threads.map(try_one, (None, *MUTATIONS))]
    (whole, whole_printed, whole_seconds), *tried = results
    sys.stdout.write(f"{len(guards)} guards on the tree as it is: {whole}, {whole_seconds:.0f} s\n\n")
    for mutation, (verdict, _printed, seconds) in zip(MUTATIONS, tried, strict=True):
        sys.stdout.write(f"  {_TOLD[verdict]:<9} {seconds:4.0f} s  {mutation.name}\n")
    bad = [(m.name, printed) for m, (verdict, printed, _) in zip(MUTATIONS, tried, strict=True) if verdict != "red"]
    if whole != "green":
        bad.insert(0, ("the tree as it is", whole_printed))
    for name, printed in bad:
        sys.stdout.write(f"\n--- {name}\n{printed}\n")
    seconds = time.monotonic() - began
    sys.stdout.write(f"\n{len(MUTATIONS) - len(bad)} of {len(MUTATIONS)} mutations noticed, {seconds:.0f} s\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
