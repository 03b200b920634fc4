"""Send many generated requests to a server and report server errors: ``python -m tests.app --requests 10000``."""

import argparse
import random
import sys
import tempfile

from tests.app.hostile_requests import requests
from tests.app.running import Workbench


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder, Workbench(folder) as server:
        server.sign_in().open_table()
        for method, path, headers, body in requests(random.Random(given.seed), given.requests, server):
            status = server.raw(method, path, headers, body).status
            found[status] = found.get(status, 0) + 1
            if status >= 500:
                print(status, method, path, body)
        alive = server.get("state").status == 200
    print(f"{given.requests:,} requests:", ", ".join(f"{status}: {n:,}" for status, n in sorted(found.items())))
    return 0 if alive and not any(status >= 500 for status in found) else 1


if __name__ == "__main__":
    sys.exit(main())
