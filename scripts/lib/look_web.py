"""Looks at the pictures of scripts/web.sh: python3 look_web.py FOLDER."""

import collections
import sys

from look import count, pixels

# The colours of the modes and of the player (web/play/page/style.css), light and dark.
COLOURS = {
    "light": {"unreliable": (217, 95, 2), "you, and reliable": (31, 119, 180), "passive": (27, 158, 119)},
    "dark": {"unreliable": (255, 146, 72), "you, and reliable": (88, 178, 240), "passive": (67, 207, 164)},
}


def main(folder):
    for scheme, colours in COLOURS.items():
        for width in ("wide", "narrow"):
            name = f"{width}-{scheme}"
            size, rows = pixels(f"{folder}/{name}.png")
            assert size == {"wide": 1400, "narrow": 400}[width], f"{name}: {size} pixels wide"
            corner = sum(rows[0][0])
            assert (corner < 150) == (scheme == "dark"), f"{name}: the background is {rows[0][0]}"
            seen = collections.Counter(pixel for row in rows for pixel in row)
            text = sum(times for pixel, times in seen.items() if abs(sum(pixel) - corner) > 300)
            assert text > 2000, f"{name}: {text} pixels are no background"
            for colour, wanted in colours.items():
                drawn = count(seen, wanted)
                # More than the mark of the legend, which is 8 by 8.
                assert drawn > 120, f"{name}: {drawn} pixels of {colour}"
            stray = sum(abs(sum(row[-1]) - corner) > 60 for row in rows)
            assert stray == 0, f"{name}: {stray} pixels in the last column"


main(sys.argv[1])
