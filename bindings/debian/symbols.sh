#!/usr/bin/env bash
# Prints libbellwire1.symbols: each function of the header, with the version that brought it ("Since 0.1" in the comment
# above it).
set -euo pipefail
export LC_ALL=C

header=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/include/bellwire.h

cat << HEAD
libbellwire.so.1 libbellwire1 #MINVER#
* Build-Depends-Package: libbellwire-dev
 BELLWIRE_1@BELLWIRE_1 0.1.0
HEAD
awk '
    match($0, /Since [0-9]+\.[0-9]+/) { since = substr($0, RSTART + 6, RLENGTH - 6) }
    /^BW_API / && match($0, /bw_[a-z0-9_]+\(/) { print " " substr($0, RSTART, RLENGTH - 1) "@BELLWIRE_1 " since ".0" }
' "$header" | sort
