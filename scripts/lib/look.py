"""Looks at the pictures of scripts/pages.sh: python3 look.py FOLDER."""

import collections
import struct
import sys
import zlib

# The colours of the curves of events, states and updates (porous-cli/src/demo/picture.rs).
CURVES = [(31, 119, 180), (217, 95, 2), (27, 158, 119)]


def pixels(path):
    """The width of a PNG of 8 bits a channel, and its rows of (r, g, b)."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    at, parts, head = 8, [], None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            head = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            parts.append(body)
        at += 12 + length
    width, height, depth, colour, _, _, interlaced = head
    assert depth == 8 and colour in (2, 6) and not interlaced, head
    size = 3 if colour == 2 else 4
    raw, stride = zlib.decompress(b"".join(parts)), width * size
    rows, before = [], bytearray(stride)
    for y in range(height):
        start = y * (stride + 1)
        row = unfilter(raw[start], bytearray(raw[start + 1 : start + 1 + stride]), before, size)
        rows.append([tuple(row[x : x + 3]) for x in range(0, stride, size)])
        before = row
    return width, rows


def unfilter(kind, row, before, size):
    """A row without its filter (PNG specification, clause 9)."""
    for x in range(len(row)):
        left = row[x - size] if x >= size else 0
        up, corner = before[x], before[x - size] if x >= size else 0
        if kind == 1:
            row[x] = (row[x] + left) & 255
        elif kind == 2:
            row[x] = (row[x] + up) & 255
        elif kind == 3:
            row[x] = (row[x] + (left + up) // 2) & 255
        elif kind == 4:
            guess = left + up - corner
            near = min((abs(guess - v), n, v) for n, v in enumerate((left, up, corner)))
            row[x] = (row[x] + near[2]) & 255
    return row


def count(colours, wanted):
    """How many pixels are nearly of this colour."""
    near = lambda pixel: all(abs(a - b) <= 40 for a, b in zip(pixel, wanted))
    return sum(times for pixel, times in colours.items() if near(pixel))


def main(folder):
    for name, is_dark in (("light", False), ("dark", True), ("narrow", False)):
        width, rows = pixels(f"{folder}/{name}.png")
        corner = sum(rows[0][0])
        assert (corner < 150) == is_dark, f"{name}: the background is {rows[0][0]}"
        colours = collections.Counter(pixel for row in rows for pixel in row)
        text = sum(times for pixel, times in colours.items() if abs(sum(pixel) - corner) > 300)
        assert text > 2000, f"{name}: {text} pixels are no background"
        # Where the page is dark the picture is turned, and where it is narrow the curves are thinner than a pixel.
        for curve in CURVES if name == "light" else []:
            drawn = count(colours, curve)
            assert drawn > width // 10, f"{name}: {drawn} pixels of {curve}"
        # The page is not wider than its window: the last column is empty.
        stray = sum(abs(sum(row[-1]) - corner) > 60 for row in rows)
        assert stray == 0, f"{name}: {stray} pixels in the last column"


if __name__ == "__main__":
    main(sys.argv[1])
