#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Prints what a table of flows costs, from the console of a guest that ran guest/bpf-bench.sh.

Usage: bpf.py CONSOLE RELEASE [FILE]
       FILE gets what the documents show. $BENCH_RUN is its machine, commit and command

The exit status is 0 if hwheel keeps its promises: arming again takes at most half of the
instructions of a bpf_timer at a million flows, no more at a thousand; no flow ends early, and
at most a tick late; and an idle table causes no interrupts.
"""
import json
import os
import sys

NAMES = {"flows": "hwheel", "flows_timer": "bpf_timer", "flows_sweep": "sweep"}
TICK_NS = 1000000
# The callback, and what runs before it, take time, too
LATENCY_NS = 200000


def rows(console):
    """Yields the kind and the values of each line"""
    for line in console:
        words = line.split()
        if len(words) > 3 and words[0] in ("bench", "late") and words[1] in NAMES:
            if words[2] != "flows":
                sys.exit(f"bpf.py: {line.strip()}")
            values = dict(zip(words[2::2], map(float, words[3::2])))
            yield words[0], NAMES[words[1]], values


def record(path, release, cost, again):
    """Writes the costs of hwheel and bpf_timer"""
    run = dict(zip(("machine", "commit", "command"), os.environ["BENCH_RUN"].split("|")))
    head = json.dumps(run, indent=1)
    rows = ",\n".join(json.dumps({
        "kernel": release, "subject": name, "flows": int(flows),
        "rearm": round(again[flows, name]), "bytes": round(v["memory"])})
        for (flows, name), v in sorted(cost.items()) if name != "sweep")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'{head[:-2]},\n "results": [\n{rows}\n]}}\n')


def main():
    """Prints the tables and checks the promises"""
    cost, late, bad = {}, {}, []
    with open(sys.argv[1], encoding="utf-8", errors="replace") as console:
        for kind, name, values in rows(console):
            if kind == "bench":
                cost[values["flows"], name] = values
            else:
                late[name] = values
    if not cost or not late:
        sys.exit("bpf.py: nothing was measured")

    print(f"A table of flows in XDP on {sys.argv[2]}, in instructions:")
    print("    flows             packet  arming again  new flow  bytes  interrupts, idle   sweep")
    again = {}
    for (flows, name), v in sorted(cost.items()):
        plain = cost[flows, "sweep"]
        again[flows, name] = v["rearm_ns"] - plain["rearm_ns"]
        print(f"  {flows:9,.0f} {name:10}{v['rearm_ns']:6.0f}{again[flows, name]:14.0f}"
              f"{v['open_ns']:10.0f}{v['memory']:7.0f}"
              f"{v['interrupts']:11.0f} in {v['idle_s']:.0f} s"
              f"{v['sweep_ns']:12,.0f}")
    print("A sweep of one CPU that reads the table once in each tick (1 ms) takes, of that CPU:")
    for (flows, name), v in sorted(cost.items()):
        if name == "sweep":
            print(f"  {flows:9,.0f} flows {v['sweep_ns'] / TICK_NS:8.1f} seconds in each second")
    print("Flows end late by, in microseconds:")
    for name, v in late.items():
        print(f"  {name:10} median {v['median_ns'] / 1000:7.0f}  99 % {v['late99_ns'] / 1000:7.0f}"
              f"  all {v['max_ns'] / 1000:7.0f}")

    for flows, share in ((1000, 1), (1000000, 0.5)):
        if (flows, "bpf_timer") in again:
            hwheel, timer = again[flows, "hwheel"], again[flows, "bpf_timer"]
            print(f"arming again with {flows:,} flows: {hwheel / timer:.2f} of bpf_timer")
            if hwheel > share * timer:
                bad.append(f"arming again with {flows:,} flows takes {hwheel / timer:.2f} of "
                           f"bpf_timer, more than {share}")
    if late["hwheel"]["early"] or late["hwheel"]["max_ns"] > TICK_NS + LATENCY_NS:
        bad.append("flows of hwheel end early, or more than a tick late")
    for flows in {flows for flows, _ in cost}:
        idle = cost[flows, "hwheel"]["interrupts"] - cost[flows, "sweep"]["interrupts"]
        if idle > 20:
            bad.append(f"an idle table of {flows:,.0f} flows causes {idle:.0f} interrupts")
    for line in bad:
        print(f"bpf.py: {line}")
    if len(sys.argv) > 3:
        record(sys.argv[3], sys.argv[2], cost, again)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
