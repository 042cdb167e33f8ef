#!/usr/bin/env python3
"""Prints what peer.sh has collected: time, price, nodes and allocations of both, and how
the prices stand to two figures of its own.

usage: compare.py FOLDER RUNS KIND…

  bound  below every plan: the pods as a fluid of cores and bytes, poured into the types
         that are cheapest for it, constraints left aside
  apart  the same for the pods of each architecture, zone and capacity type by
         themselves: an estimate of what segregated packing can reach
"""
import collections
import json
import math
import statistics
import sys

UNITS = {"Ki": 1 / 1024, "Mi": 1, "Gi": 1024, "Ti": 1024 * 1024}


def cores(text):
    return float(text[:-1]) / 1000 if text.endswith("m") else float(text)


def mebibytes(text):
    return float(text[:-2]) * UNITS[text[-2:]] if text[-2:] in UNITS else float(text) / (1 << 20)


def demand(spec):
    """Cores and MiB of a pod spec."""
    requests = [c["resources"].get("requests", {}) for c in spec["containers"]]
    return sum(cores(r.get("cpu", "0")) for r in requests), sum(mebibytes(r.get("memory", "0")) for r in requests)


def efficiencies(types, daemons, arch, zone, kind):
    """What a dollar an hour buys as each type, of those that no other type beats in both."""
    points = []
    for t in types:
        if arch and t["arch"] != arch:
            continue
        prices = [o["price"] for o in t["offerings"] if not o.get("unavailable") and (not zone or o["zone"] == zone) and (not kind or o["capacityType"] == kind)]
        cpu = (t["cpuMilli"] - t["overheadCpuMilli"]) / 1000 - daemons[0]
        mem = t["memoryMiB"] - t["overheadMemoryMiB"] - daemons[1]
        if prices and cpu > 0 and mem > 0:
            points.append((cpu / min(prices), mem / min(prices)))
    front, best = [], -1.0
    for cpu, mem in sorted(points, key=lambda p: (-p[1], -p[0])):
        if cpu > best:
            best = cpu
            front.append((cpu, mem))
    return front


def cover(cpu, mem, front):
    """The least price that buys both: an optimum of two rows uses at most two types."""
    if cpu <= 0 and mem <= 0:
        return 0.0
    best = math.inf
    for i, (c1, m1) in enumerate(front):
        best = min(best, max(cpu / c1, mem / m1))
        for c2, m2 in front[:i]:
            det = c1 * m2 - c2 * m1
            if det:
                x, y = (cpu * m2 - mem * c2) / det, (c1 * mem - m1 * cpu) / det
                if x >= 0 and y >= 0:
                    best = min(best, x + y)
    return best


def bounds(w):
    daemons = [sum(x) for x in zip(*[demand(d["spec"]["template"]["spec"]) for d in w.get("daemonSets", [])])] or [0, 0]
    groups, total = collections.defaultdict(lambda: [0, 0]), [0, 0]
    for p in w["pods"]:
        s = p["spec"].get("nodeSelector", {})
        key = (s.get("kubernetes.io/arch"), s.get("topology.kubernetes.io/zone"), s.get("karpenter.sh/capacity-type"))
        for i, x in enumerate(demand(p["spec"])):
            groups[key][i] += x
            total[i] += x
    bound = cover(*total, efficiencies(w["instanceTypes"], daemons, None, None, None))
    return bound, sum(cover(*d, efficiencies(w["instanceTypes"], daemons, *k)) for k, d in groups.items())


def read(folder, name):
    with open(f"{folder}/{name}.json", encoding="utf-8") as f:
        return json.load(f)


def row(folder, runs, kind):
    w, peer = read(folder, f"{kind}.w"), read(folder, f"{kind}.peer")
    ours = [read(folder, f"{kind}.ours.{i + 1}") for i in range(runs)]
    summary = ours[0]["summary"]
    bound, apart = bounds(w)
    choices = [len(n["instanceTypes"]) for n in ours[0]["newNodes"] if n["capacityType"] == "spot"]
    return dict(
        kind=kind, pods=len(w["pods"]),
        peer_s=peer["setupSeconds"] + peer["solveSeconds"], our_s=statistics.median(o["summary"]["solveSeconds"] for o in ours),
        peer_price=peer["hourlyPrice"], our_price=summary["pricePerHour"],
        peer_left=peer["unschedulableCount"], our_left=len(ours[0]["unschedulable"]),
        peer_nodes=peer["newNodes"], our_nodes=summary["newNodes"],
        peer_mib=peer["allocMiB"], our_mib=summary["allocatedBytes"] / (1 << 20),
        bound=bound, apart=apart, own=summary["lowerBoundPerHour"],
        types=statistics.median(choices) if choices else 0)


COLUMNS = [
    ("kind", 13, lambda r: r["kind"]),
    ("peer s", 8, lambda r: "%.2f" % r["peer_s"]),
    ("ours s", 8, lambda r: "%.4f" % r["our_s"]),
    ("times", 7, lambda r: "%.0f" % r["times"]),
    ("peer pod/s", 10, lambda r: "%.0f" % (r["pods"] / r["peer_s"])),
    ("ours pod/s", 10, lambda r: "%.0f" % (r["pods"] / r["our_s"])),
    ("peer $/h", 9, lambda r: "%.2f" % r["peer_price"]),
    ("ours $/h", 9, lambda r: "%.2f" % r["our_price"]),
    ("bound", 8, lambda r: "%.2f" % r["bound"]),
    ("/bound", 6, lambda r: "%.3f" % (r["our_price"] / r["bound"])),
    ("apart", 8, lambda r: "%.2f" % r["apart"]),
    ("/apart", 6, lambda r: "%.3f" % (r["our_price"] / r["apart"])),
    ("/own", 6, lambda r: "%.3f" % (r["our_price"] / r["own"]) if r["own"] else "-"),
    ("left p/o", 9, lambda r: "%d/%d" % (r["peer_left"], r["our_left"])),
    ("nodes p/o", 10, lambda r: "%d/%d" % (r["peer_nodes"], r["our_nodes"])),
    ("MiB p/o", 11, lambda r: "%.0f/%.0f" % (r["peer_mib"], r["our_mib"])),
    ("types", 5, lambda r: "%.0f" % r["types"]),
]


def main():
    folder, runs, kinds = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    rows = [row(folder, runs, k) for k in kinds]
    print("  ".join(name.ljust(n) if name == "kind" else name.rjust(n) for name, n, _ in COLUMNS))
    for r in rows:
        r["times"] = r["peer_s"] / r["our_s"]
        print("  ".join(f(r).ljust(n) if name == "kind" else f(r).rjust(n) for name, n, f in COLUMNS))
    made = [r for r in rows if not r["kind"].startswith("openb")]
    if made:
        mean = math.exp(statistics.fmean(math.log(r["times"]) for r in made))
        # Who leaves pods out has less to pay for: the price is that of a pod placed.
        paid = lambda r, who: r[who + "_price"] / max(1, r["pods"] - r[who + "_left"])
        dearer = [r["kind"] for r in rows if paid(r, "our") > paid(r, "peer") + 1e-12]
        print(f"\ngeometric mean of the {len(made)} kinds: {mean:.1f} times; least: {min(r['times'] for r in made):.1f} times"
              f"; most allocated: {max(r['our_mib'] for r in made):.0f} MiB; dearer a pod than the peer: {', '.join(dearer) or 'none'}")
    print("peer s: set-up and solve, one worker; ours s: solveSeconds, median; types: that a spot node may be launched as, median; p/o: peer/ours")


if __name__ == "__main__":
    main()
