"""What porous.h says, read from its text."""

import re
from pathlib import Path
from typing import Dict, List, Tuple

TEXT = (Path(__file__).parents[3] / "porous-ffi/include/porous.h").read_text()
#: Without comments and directives.
CODE = re.sub(r"/\*.*?\*/", "", TEXT, flags=re.S)
CODE = re.sub(r"^\s*#.*$", "", CODE, flags=re.M)

SIZES = {"uint8_t": 1, "uint16_t": 2, "uint32_t": 4, "uint64_t": 8, "int32_t": 4}
SIZES.update(porous_peer=8, porous_status=4)


def constants() -> Dict[str, int]:
    """The numbers that are defined, by their names."""
    found = re.findall(r"^#define (POROUS_\w+) \(?(-?\d+)\)?$", TEXT, re.M)
    return {name: int(number) for name, number in found}


def functions() -> Dict[str, Tuple[str, List[str]]]:
    """What each function returns, and the types of its parameters."""
    found = {}
    for returns, name, takes in re.findall(r"POROUS_API\s+([\w\s]+[\s*]+)(porous_\w+)\(([^)]*)\);", CODE):
        parameters = [" ".join(one.split()) for one in takes.split(",")]
        types = [re.sub(r"\w+$", "", one).strip() for one in parameters if one != "void"]
        found[name] = (" ".join(returns.split()), types)
    return found


def structs() -> Dict[str, List[Tuple[str, int, int]]]:
    """The fields of each struct: names, offsets, and bytes, as C lays them out."""
    found: Dict[str, List[Tuple[str, int, int]]] = {}
    sizes: Dict[str, Tuple[int, int]] = {name: (size, size) for name, size in SIZES.items()}
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", CODE, re.S):
        fields, at, aligned = [], 0, 1
        for declaration in filter(None, (" ".join(one.split()) for one in body.split(";"))):
            pointer = "*" in declaration
            match = re.fullmatch(r"(?:const )?(?:struct )?(\w+)(?: |\s?\*)(\w+)(?:\[(\d+)\])?", declaration)
            assert match, declaration
            kind, field, count = match.groups()
            size, alignment = (8, 8) if pointer else sizes[kind]
            at = -(-at // alignment) * alignment
            fields.append((field, at, size * int(count or 1)))
            at += fields[-1][2]
            aligned = max(aligned, alignment)
        found[name] = fields
        sizes[name] = (-(-at // aligned) * aligned, aligned)
    return found
