"""A line between two programs on this machine that loses datagrams of both directions.

usage: lossy.py ADDRESS:PORT [--loss PERCENT] [--seed N]

Prints the address at which it listens. What comes there goes on to the address that it was given, from a port of its
own for each sender, and back. It ends with the program that reads its output, or when it is killed.
"""
import argparse
import random
import select
import socket


def place(text):
    host, port = text.rsplit(":", 1)
    return host, int(port)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server", type=place)
    parser.add_argument("--loss", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    front.bind(("127.0.0.1", 0))
    print("listening on %s:%d" % front.getsockname(), flush=True)
    # The port by which each sender is known to the server, and back.
    ports, senders = {}, {}
    while True:
        for ready in select.select([front, *senders], [], [])[0]:
            try:
                datagram, sender = ready.recvfrom(65536)
                if chance.random() * 100 < options.loss:
                    continue
                if ready is not front:
                    front.sendto(datagram, senders[ready])
                    continue
                if sender not in ports:
                    ports[sender] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                    ports[sender].connect(options.server)
                    senders[ports[sender]] = sender
                ports[sender].send(datagram)
            except ConnectionError:
                # The other end is gone, which its own protocol finds out.
                continue


if __name__ == "__main__":
    main()
