#!/usr/bin/env bash
# Kills a relay 100 times while it stores frames and remembers proofs: nothing that it had committed may be lost.
#
#   Tests/Soak/store.sh [--seed N]     the seed changes nothing: the kill comes when the sender is done
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
BELLWIRE_RELAY_KILLS=100 exec .build/venv/bin/python -m pytest -q -p no:cacheprovider \
    Tests/Integration/test_relay_service.py -k kill_9
