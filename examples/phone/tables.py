#!/usr/bin/env python3
"""Prints the tables of RESULTS.md from what tables.sh left in FOLDER: examples/phone/tables.py [FOLDER]

Python 3.9 or later, nothing else. Intervals over families resample the 22 or 20 families whole, 10,000 times, with a fixed seed; those of the mask
are t intervals over paired seeds.
"""

import json
import random
import statistics
import sys
from pathlib import Path

OUT = Path(sys.argv[1] if len(sys.argv) > 1 else "target/phone")
SEEDS = (0, 1, 2)
MASK_SEEDS = (0, 1, 2, 3, 4)
# Student's t at 97.5 %, by degrees of freedom.
T = {2: 4.303, 4: 2.776}
ARMS = {"sft": "cold start", "vanilla": "outcome alone (`vanilla`)", "care": "CARE"}


def read(name, split):
    return json.loads((OUT / f"{name}-{split}.json").read_text().splitlines()[0])


def families(runs):
    """Success by family, in per cent: the mean over runs."""
    return {name: 100 * statistics.mean(run["families"][name]["success"] for run in runs) for name in runs[0]["families"]}


def interval(by_family):
    drawn, values = random.Random(0), list(by_family.values())
    means = sorted(statistics.mean(drawn.choices(values, k=len(values))) for _ in range(10_000))
    return means[249], means[9_749]


def row(name, runs):
    mean = lambda key: statistics.mean(run["all"][key] for run in runs)
    low, high = interval(families(runs))
    each = ", ".join(f"{100 * run['all']['success']:.1f}" for run in runs)
    seeds = f" ({each})" if len(runs) > 1 else ""
    cells = [name, f"{100 * mean('success'):.1f} %{seeds}", f"[{low:.1f}, {high:.1f}]", f"{mean('steps'):.2f}"]
    cells += [f"{mean('choices'):.1f}", f"{mean('cost'):.2f}"]
    cells += [f"{100 * statistics.mean(run['languages'][lang]['success'] for run in runs):.1f}" for lang in ("en", "zh")]
    print("| " + " | ".join(cells) + " |")


def success(split):
    print(f"\n| {split} | success | over families | decisions | choices | cost | en | zh |\n|---|---|---|---|---|---|---|---|")
    row("`random`", [read("random", split)])
    row("`lexical`", [read("lexical", split)])
    for arm, name in ARMS.items():
        row(name, [read(f"{arm}-{seed}", split) for seed in SEEDS])
    row("the one that ships", [read("shipped", split)])


def by_family():
    print("\n| part | family | `lexical` | cold start | `vanilla` | CARE |\n|---|---|---|---|---|---|")
    nobody = []
    for split in ("dev", "test"):
        columns = [families([read("lexical", split)])]
        columns += [families([read(f"{arm}-{seed}", split) for seed in SEEDS]) for arm in ARMS]
        for name in columns[0]:
            if any(column[name] for column in columns):
                print(f"| {split} | {name} | " + " | ".join(f"{column[name]:.0f}" for column in columns) + " |")
            else:
                nobody.append(f"{split} `{name}`")
    print("\nNobody solves: " + ", ".join(nobody))


def mask():
    print("\n| | success | decisions | choices | cost |\n|---|---|---|---|---|")
    runs = {arm: [read(f"{arm}-{seed}", "dev")["all"] for seed in MASK_SEEDS] for arm in ("masked", "unmasked")}
    scales = {"success": 100, "steps": 1, "choices": 1, "cost": 1}
    for arm, all_of in runs.items():
        mean = {key: scale * statistics.mean(run[key] for run in all_of) for key, scale in scales.items()}
        each = ", ".join(f"{100 * run['success']:.1f}" for run in all_of)
        print(f"| {arm} | {mean['success']:.1f} % ({each}) | {mean['steps']:.2f} | {mean['choices']:.1f} | {mean['cost']:.3f} |")
    cells = []
    for key, scale in scales.items():
        pairs = [scale * (left[key] - right[key]) for left, right in zip(runs["masked"], runs["unmasked"])]
        middle, half = statistics.mean(pairs), T[len(pairs) - 1] * statistics.stdev(pairs) / len(pairs) ** 0.5
        digits = 3 if key == "cost" else 2 if key == "steps" else 1
        cells.append(f"{middle:+.{digits}f} [{middle - half:+.{digits}f}, {middle + half:+.{digits}f}]")
    print("| masked less unmasked, 95 % over paired seeds | " + " | ".join(cells) + " |")


def planted():
    """What evidence said of the planted turns, summed over the masked runs."""
    shown = [json.loads((OUT / f"masked-{seed}" / "demonstrations.json").read_text())["about"] for seed in MASK_SEEDS]
    errors = [run["errors"] for run in shown]
    print(f"\nEpisodes {[run['episodes'] for run in shown]}, passed {[run['passed'] for run in shown]}")
    for key in ("shown", "found", "found_gold", "precision", "recall"):
        print(f"{key}: {[run[key] for run in errors]}")
    for kind in errors[0]["kinds"]:
        print(kind, {key: sum(run["kinds"][kind][key] for run in errors) for key in ("planted", "shown", "found", "harmless")})
    for cause in sorted({cause for run in errors for cause in run["causes"]}):
        counts = [run["causes"].get(cause, {"planted": 0, "gold": 0}) for run in errors]
        print(cause, {key: sum(count[key] for count in counts) for key in ("planted", "gold")})


if __name__ == "__main__":
    for split in ("dev", "test"):
        success(split)
    by_family()
    mask()
    planted()
