"""usage: rate.py receive | rate.py send HOST SECONDS

One TCP stream. The receiver prints the payload rate in Gbit/s, counted after
the first 0.3 s, when the burst that the shaper allows is over.
"""
import socket
import sys
import time

PORT = 7001


def receive():
    server = socket.create_server(("0.0.0.0", PORT))
    connection, _ = server.accept()
    buffer = bytearray(1 << 20)
    begin = time.monotonic()
    count, start = 0, None
    while received := connection.recv_into(buffer):
        now = time.monotonic()
        if start is not None:
            count += received
        elif now - begin > 0.3:
            start = now
    print(count * 8 / 1e9 / (time.monotonic() - start))


def connect(host):
    for _ in range(200):
        try:
            return socket.create_connection((host, PORT))
        except OSError:
            time.sleep(0.05)
    sys.exit(f"rate.py: no receiver on {host}")


def send(host, seconds):
    connection = connect(host)
    block = bytes(1 << 18)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        connection.sendall(block)


if __name__ == "__main__":
    if sys.argv[1] == "receive":
        receive()
    else:
        send(sys.argv[2], float(sys.argv[3]))
