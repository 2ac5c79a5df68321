# SPDX-License-Identifier: GPL-2.0
"""Dumps the memory of a guest of QEMU when its kernel has died, and ends QEMU.

The guest must have written 0 to /proc/sys/kernel/panic before. A kernel that dies while it boots
does not count.

Usage: dump.py CONSOLE MONITOR FILE

Ends, too, when the file CONSOLE is gone.
"""

import os
import socket
import sys
import time

console, monitor, target = sys.argv[1:]
while os.path.exists(os.path.dirname(console)):
    time.sleep(1)
    try:
        with open(console, encoding="utf-8", errors="replace") as file:
            if "end Kernel panic" in file.read().partition("lab: payload begins")[2]:
                break
    except FileNotFoundError:
        pass
else:
    sys.exit()
with socket.socket(socket.AF_UNIX) as qemu:
    qemu.connect(monitor)
    qemu.sendall(f"dump-guest-memory {target}\nquit\n".encode())
    while qemu.recv(65536):
        pass
