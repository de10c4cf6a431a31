"""Draws what processes held over time as SVG: one panel each for memory, descriptors and threads."""

from __future__ import annotations

import math
from dataclasses import dataclass

COLOURS = ["#1f6feb", "#d29922", "#2da44e", "#8250df"]
WIDTH, PANEL, LEFT, RIGHT, TOP, GAP = 760, 150, 52, 16, 34, 34


@dataclass
class Sample:
    at: float
    process: str
    kib: int
    descriptors: int
    threads: int


def step(most: float) -> float:
    """A round distance between lines of the grid: about four of them."""
    if most <= 0:
        return 1.0
    rough = most / 4
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)


def number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def draw(samples: list[Sample]) -> str:
    names = list(dict.fromkeys(sample.process for sample in samples))
    end = max((sample.at for sample in samples), default=1.0) or 1.0
    panels = [
        ("Private memory, MiB", [(s, s.kib / 1024) for s in samples]),
        ("Descriptors", [(s, float(s.descriptors)) for s in samples]),
        ("Threads", [(s, float(s.threads)) for s in samples]),
    ]
    height = TOP + len(panels) * (PANEL + GAP)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for index, name in enumerate(names):
        x, colour = LEFT + 110 * index, COLOURS[index % len(COLOURS)]
        out.append(f'<line x1="{x}" y1="14" x2="{x + 18}" y2="14" stroke="{colour}" stroke-width="2"/>')
        out.append(f'<text x="{x + 24}" y="18" fill="#24292f">{name}</text>')
    for place, (title, values) in enumerate(panels):
        out += panel(TOP + place * (PANEL + GAP), title, values, names, end)
    return "\n".join([*out, "</svg>"]) + "\n"


def panel(top: int, title: str, values: list[tuple[Sample, float]], names: list[str], end: float) -> list[str]:
    most = max((value for _, value in values), default=1.0)
    distance = step(most)
    ceiling = distance * max(1, math.ceil(most / distance))
    right, bottom = WIDTH - RIGHT, top + PANEL

    def x(at: float) -> float:
        return LEFT + at / end * (right - LEFT)

    def y(value: float) -> float:
        return bottom - value / ceiling * (PANEL - 18)

    out = [f'<text x="{LEFT}" y="{top + 10}" fill="#24292f" font-weight="bold">{title}</text>']
    for line in range(round(ceiling / distance) + 1):
        level = line * distance
        out.append(f'<line x1="{LEFT}" y1="{y(level):.1f}" x2="{right}" y2="{y(level):.1f}" stroke="#d0d7de"/>')
        label = f'<text x="{LEFT - 6}" y="{y(level) + 4:.1f}" text-anchor="end" fill="#57606a">{number(level)}</text>'
        out.append(label)
    minutes = step(end / 60)
    for line in range(int(end / 60 / minutes) + 1):
        at = x(line * minutes * 60)
        text = f"{number(line * minutes)} min"
        out.append(f'<text x="{at:.1f}" y="{bottom + 14}" text-anchor="middle" fill="#57606a">{text}</text>')
    for index, name in enumerate(names):
        points = " ".join(f"{x(s.at):.1f},{y(value):.1f}" for s, value in values if s.process == name)
        colour = COLOURS[index % len(COLOURS)]
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
    return out
