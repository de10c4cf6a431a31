#!/usr/bin/python3
"""Runs in a network namespace of its own: gives a route socket of it to the test, and changes its network.

    unshare -rn namespace.py SOCKET

SOCKET is where the test listens; the route socket goes there. Each line of standard input is an ip command.
"""

import array
import os
import socket
import subprocess
import sys

with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.NETLINK_ROUTE) as route:
    with socket.socket(socket.AF_UNIX) as test:
        test.connect(sys.argv[1])
        descriptors = array.array("i", [route.fileno()])
        test.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
print("given", flush=True)
while line := sys.stdin.readline():
    done = subprocess.run(
        ["ip", *line.split()], check=False, env={**os.environ, "PATH": "/usr/sbin:/sbin:/usr/bin:/bin"}
    )
    print("done" if done.returncode == 0 else "failed", flush=True)
