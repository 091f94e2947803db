# SPDX-License-Identifier: Apache-2.0
# A server and clients for tests of forwarded connections.
# Arguments: `server PORT|PATH` or `clients PORT|PATH NAME [COUNT]`.
import os, socket, struct, sys, threading, time


def connect(place):
    if place.startswith("/"):
        client = socket.socket(socket.AF_UNIX)
        client.connect(place)
        return client
    return socket.create_connection(("127.0.0.1", int(place)))


def read_all(client):
    parts = []
    while part := client.recv(1 << 16):
        parts.append(part)
    return b"".join(parts)


def reset(client):
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


# The first byte selects the service: e echo, s number of bytes at the end, r reset, h hold, b many bytes.
def serve(client):
    kind = client.recv(1)
    try:
        if kind == b"e":
            while part := client.recv(1 << 16):
                client.sendall(part)
        elif kind == b"s":
            client.sendall(b"%d" % len(read_all(client)))
        elif kind == b"r":
            reset(client)
            return
        elif kind == b"b":
            for _ in range(256):
                client.sendall(b"x" * (1 << 16))
        elif kind == b"h":
            client.sendall(b"h")
            client.recv(1)
            time.sleep(3600)
    except OSError:
        pass
    client.close()


def server(place):
    if place.startswith("/"):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(place)
    else:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", int(place)))
    listener.listen(64)
    print(place if place.startswith("/") else listener.getsockname()[1], flush=True)
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client,), daemon=True).start()


def echo(place, count):
    clients = [connect(place) for _ in range(count)]
    for number, client in enumerate(clients):
        client.sendall(b"e%08d" % number)
    for number, client in enumerate(clients):
        got = b""
        while len(got) < 8:
            got += client.recv(8 - len(got))
        assert got == b"%08d" % number, got
        client.shutdown(socket.SHUT_WR)
    for client in clients:
        assert client.recv(1) == b""


def half_close(place, _):
    client = connect(place)
    client.sendall(b"s" + b"x" * 3000000)
    client.shutdown(socket.SHUT_WR)
    assert read_all(client) == b"3000000"


def peer_resets(place, _):
    client = connect(place)
    client.sendall(b"r")
    try:
        assert False, client.recv(1)
    except ConnectionResetError:
        pass


def stall(place, count):
    stalled = []
    for _ in range(count):
        client = connect(place)
        client.sendall(b"b")
        stalled.append(client)
    time.sleep(0.5)
    echo(place, 5)
    half_close(place, 1)
    assert len(read_all(stalled[0])) == 256 << 16
    for client in stalled[1:]:
        reset(client)


def bulk(place, count):
    clients = [connect(place) for _ in range(count)]
    for client in clients:
        client.sendall(b"b")
    for client in clients:
        assert len(read_all(client)) == 256 << 16


def refused(place, _):
    client = connect(place)
    try:
        assert client.recv(1) == b"", "bytes"
    except ConnectionResetError:
        pass


# Holds connections open, prints `held`, and ends when each was reset: an end of file is a failure.
def held(place, count):
    clients = [connect(place) for _ in range(count)]
    for client in clients:
        client.sendall(b"h")
    for client in clients:
        assert client.recv(1) == b"h"
    print("held", flush=True)
    for client in clients:
        try:
            assert client.recv(1) != b"", "a clean end"
        except ConnectionResetError:
            pass


if sys.argv[1] == "server":
    server(sys.argv[2])
tests = {"echo": echo, "half-close": half_close, "peer-resets": peer_resets, "stall": stall, "bulk": bulk}
tests.update({"refused": refused, "held": held})
tests[sys.argv[3]](sys.argv[2], int(sys.argv[4]) if len(sys.argv) > 4 else 1)
print("well")
