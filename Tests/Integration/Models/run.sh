#!/usr/bin/env bash
# Runs the ProVerif models of pairing, sessions, prekeys and moves to other keys, and prints each query's result. Needs
# proverif on the PATH, which is in no package of Debian 12.
#
#   Tests/Integration/Models/run.sh
#
# The head of each model says what is expected. Exit: 0 all models ran; 1 one did not; 2 there is no ProVerif.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 2
command -v proverif > /dev/null || { echo "no proverif on the PATH; nothing was proved" >&2; exit 2; }
proverif -help 2>&1 | head -n 1
status=0
for model in session impersonation without-psk restore prekeys; do
    echo "== $model"
    proverif -lib primitives.pvl "$model.pv" | grep '^RESULT' || status=1
done
for model in pairing offers downgrade rekey; do
    echo "== $model"
    proverif "$model.pv" | grep '^RESULT' || status=1
done
exit "$status"
