"""A process that queries a home's database until it is told to stop: `python -m tests.lake_reader HOME plain|lake`.

It prints what it saw as JSON: how many queries, the longest one in seconds, the largest number of rows, and every failure.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

import duckdb

from resources.lake import Lake

SQL = "SELECT count(*), count(DISTINCT r.fingerprint), count(v.outcome) FROM rollouts r LEFT JOIN verdicts v USING (fingerprint)"


def main(home: Path, how: str) -> None:
    """Query, and count."""
    stopped = False

    def stop(*_: object) -> None:
        nonlocal stopped
        stopped = True

    signal.signal(signal.SIGTERM, stop)
    lake = Lake(home)
    queries, most, slowest, failures = 0, 0, 0.0, list[str]()
    print("ready", flush=True)
    parent = os.getppid()
    while not stopped and os.getppid() == parent:  # it must not outlive a test that was killed
        started = time.monotonic()
        try:
            if how == "plain":
                with duckdb.connect(str(lake.database), read_only=True) as connection:
                    [(rows, different, judged)] = connection.execute(SQL).fetchall()
            else:
                [(rows, different, judged)] = lake.query(SQL).rows
        except Exception as error:
            failures.append(f"{type(error).__name__}: {error}")
        else:
            if rows != different or judged > rows:
                failures.append(f"{rows} rollouts, {different} different ones, {judged} verdicts")
            most = max(most, rows)
            queries += 1
        slowest = max(slowest, time.monotonic() - started)
        time.sleep(0.05 if how == "plain" else 0.5)  # the other one may build the whole database
    print(json.dumps({"queries": queries, "most": most, "slowest": slowest, "failures": failures}))


if __name__ == "__main__":
    os.nice(5)  # writers are what is tested; readers ask as often as there is room
    main(Path(sys.argv[1]), sys.argv[2])
