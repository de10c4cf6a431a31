#!/usr/bin/env python3
"""Whether the time of a relay's answer tells a stranger if an id is there.

    privacy.py [--samples N] [--seed N]

For each frame whose answers say nothing of an id (test_relay_privacy.py), asks about one that is present, one that is
absent and one that was never seen, in random order, and compares how long the answers took: the Mann-Whitney U test of
each pair. Two sets of samples about the same id show what noise alone gives. Prints one line for each frame, and ends
with 1 if a difference is beyond noise: p < 0.001 divided by the number of comparisons, and a median that differs by more
than 1 microsecond. It needs the release program in $BELLWIRE_STAGE (default: build/stage).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "Integration"))

from programs import BELLWIRE, Program  # noqa: E402
from relay_node import Client, Node, Object  # noqa: E402
from test_relay_privacy import ALIKE, Targets  # noqa: E402

STATES = ("present", "gone", "never seen")


def start(*arguments: str | Path) -> Program:
    return Program((BELLWIRE, *arguments), {"TZ": "UTC"})


def took(stranger: Client, frame: Object) -> int:
    """Nanoseconds from a frame to its answer."""
    text = json.dumps(frame)
    begin = time.perf_counter_ns()
    stranger.connection.send(text)
    stranger.connection.recv(timeout=10)
    return time.perf_counter_ns() - begin


def probability(one: list[int], other: list[int]) -> float:
    """How likely noise alone gives ranks that differ that much: Mann-Whitney U, by its normal approximation."""
    ranked = sorted([(value, 0) for value in one] + [(value, 1) for value in other])
    total, index, ties = 0.0, 0, 0.0
    while index < len(ranked):
        end = index
        while end < len(ranked) and ranked[end][0] == ranked[index][0]:
            end += 1
        total += (index + 1 + end) / 2 * sum(1 for _, group in ranked[index:end] if group == 0)
        ties += (end - index) ** 3 - (end - index)
        index = end
    n, m = len(one), len(other)
    deviation = math.sqrt(n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1))))
    return math.erfc(abs(total - n * (n + m + 1) / 2) / deviation / math.sqrt(2)) if deviation else 1.0


def main() -> int:
    parser = argparse.ArgumentParser(usage="privacy.py [--samples N] [--seed N]")
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    good = bad = 0
    for is_proved in (False, True):
        node = Node(start)
        targets = Targets(node, is_proved)
        stranger = node.peer("stranger")
        groups = [*STATES, "never seen, again"]
        bound = 0.001 / (len(ALIKE) * 2 * 3)
        for what, frame in ALIKE.items():
            times: dict[str, list[int]] = {group: [] for group in groups}
            for _ in range(options.samples):
                for group in random.sample(groups, len(groups)):
                    # The limit is 200 frames a second of a connection.
                    time.sleep(0.006)
                    times[group].append(took(stranger, frame(targets.ids[group.removesuffix(", again")])))
            medians = {group: statistics.median(found) / 1000 for group, found in times.items()}
            pairs = [("present", "gone"), ("present", "never seen"), ("gone", "never seen")]
            worst = min(probability(times[one], times[other]) for one, other in pairs)
            noise = probability(times["never seen"], times["never seen, again"])
            spread = max(medians[state] for state in STATES) - min(medians[state] for state in STATES)
            is_alike = worst >= bound or spread <= 1
            good, bad = good + is_alike, bad + (not is_alike)
            listed = ", ".join(f"{group} {medians[group]:.1f}" for group in groups)
            print(
                f"{'ok   ' if is_alike else 'FAIL '} {'proved' if is_proved else 'unproved'} ids, {what}: "
                f"medians in us: {listed}; smallest p {worst:.2g}, of noise {noise:.2g}",
                flush=True,
            )
        node.program.kill()
    print(f"{good} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    os.environ.setdefault("BELLWIRE_STAGE", str(ROOT / "build" / "stage"))
    sys.exit(main())
