# SPDX-License-Identifier: GPL-2.0
"""Prints where the CPUs of a guest of QEMU are, if the guest does not end in time.

Usage: last-words.py MONITOR SECONDS

Waits for SECONDS. Then it prints the program counters of the guest's CPUs, and sends them
an NMI: a kernel that was booted with unknown_nmi_panic prints its stack, and dies.
"""

import re
import socket
import sys
import time

time.sleep(int(sys.argv[2]))
with socket.socket(socket.AF_UNIX) as monitor:
    try:
        monitor.connect(sys.argv[1])
    except OSError:
        sys.exit()  # not QEMU
    monitor.sendall(b"info registers -a\nnmi\n")
    monitor.settimeout(2)
    answer = b""
    try:
        while part := monitor.recv(65536):
            answer += part
    except OSError:
        pass
for line in answer.decode(errors="replace").splitlines():
    if re.match(r"CPU#|RIP|PC=", line.strip()):
        print("lab: the guest stands at:", line.strip())
