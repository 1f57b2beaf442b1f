"""A server and a client in one program: the client says hello, and the server says it back.

usage: python3 examples/echo.py [LIBRARY]
       LIBRARY is the path of libporous; by default it is looked for as README.md says.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
if len(sys.argv) > 1:
    os.environ["POROUS_LIB"] = sys.argv[1]

import porous  # noqa: E402


def serve(server: porous.Host) -> None:
    """Says back what has come."""
    server.step()
    for event in server.events():
        for packet in server.packets(event.peer):
            server.send(event.peer, packet.data, packet.channel, packet.mode)


def talk(client: porous.Host) -> bool:
    """Says hello; whether it was said back."""
    client.wait(0.001)
    for event in client.events():
        if isinstance(event, porous.Connected):
            client.send(event.peer, b"hello")
        for packet in client.packets(event.peer):
            print(packet.data.decode())
            return True
    return False


def main() -> None:
    client_config = porous.Config(preset=porous.Preset.CLIENT)
    with porous.Host(address="127.0.0.1:0") as server, porous.Host(client_config, "127.0.0.1:0") as client:
        server.listen()
        client.connect(server.address)
        for _ in range(10_000):
            if talk(client):
                return
            serve(server)
    sys.exit("nothing was said back")


if __name__ == "__main__":
    main()
