# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make quickstart`: one document becomes pools of GPUs on three emulated clouds, and all of it goes again.

Writes quickstart.json into build/ (or the folder that is named): {pools: [{name, provider, state, nodes_listed,
nodes_joined}], preempted, retired, second_run_changed, leftovers, seconds}. Ends with 0 when everything held.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from .playbook import Ansible, AnsibleFailed
from .processes import Interrupts
from .report import Report
from .stage import Stage
from .story import Story

_CHECKOUT = Path(__file__).resolve().parent.parent
_DOCUMENT = _CHECKOUT / "examples" / "fleet.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Tell the whole story; the exit status."""
    parser = argparse.ArgumentParser(prog="quickstart", description="The whole life of a fleet on emulated clouds.")
    parser.add_argument("--into", type=Path, default=_CHECKOUT / "build", help="folder for the result and the logs")
    into: Path = parser.parse_args(arguments).into.resolve()
    folder = into / "quickstart"
    report = Report()
    report.title("better_compute.fleet: one document, pools of GPUs at three providers, and nothing left behind")
    report.line("AWS, Google Cloud and DigitalOcean are emulated here; all else is the product as you would run it.")
    report.step("Start the emulated clouds and bc-fleetd")
    try:
        with Stage(folder, Interrupts()) as stage:
            story = Story(stage, Ansible(stage, _CHECKOUT), report, _DOCUMENT)
            copy = _told(folder / _DOCUMENT.name)
            report.line(f"{copy} is {_told(_DOCUMENT)}, with the emulated clouds' addresses in its accounts.")
            story.tell(str(copy))
    except KeyboardInterrupt:
        report.ill("interrupted: everything that was started has been stopped")
        return 130
    except (AnsibleFailed, RuntimeError, TimeoutError) as error:
        report.lines(str(error).splitlines())
        report.ill("the quickstart failed; everything that was started has been stopped")
        return 1
    result = {**story.result, "seconds": report.seconds}
    (into / "quickstart.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    held = not result["second_run_changed"] and not result["leftovers"]
    report.step("Everything held." if held else "Not everything held: see above.")
    report.line(f"Result: {_told(into / 'quickstart.json')}. Logs, settings and records: {_told(folder)}/.")
    return 0 if held else 1


def _told(path: Path) -> Path:
    return path.relative_to(_CHECKOUT) if path.is_relative_to(_CHECKOUT) else path


if __name__ == "__main__":
    sys.exit(main())
