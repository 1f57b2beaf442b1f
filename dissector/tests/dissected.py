"""What tshark says about a capture, in the words of docs/vectors/README.md.

usage: dissected.py CAPTURE LINES

compares every datagram of a capture with a line of JSON: an object with `forms`, as in docs/vectors, or with `refused`.
A line with neither says nothing about its datagram. `porous trace --json CAPTURE` prints such lines.
"""
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

DISSECTOR = Path(__file__).resolve().parent.parent / "porous.lua"

# How the value of a field is written in docs/vectors, by the end of its name. All others are numbers.
TEXTS = {"form", "check", "mode"}
IDS = {"nonce_self", "nonce_peer", "application_id"}
BYTES = {"connection_id", "greeting", "value", "server_key_tag", "token", "e", "e_and_sealed", "sealed", "data", "mac",
         "payload"}
BOOLS = {"acknowledges", "acknowledge_now", "newest_is_ecn_capable", "receipt", "first"}
LISTS = {"offer.high_priority", "offer.suites", "offer.unknown", "ack.missing", "ack.ranges", "message.skipped"}
# What the dissector shows beyond the vectors. Whatever is here has no vector to be compared with.
EXTRA = {"byte0", "length", "auth.flags", "tag", "token.version", "token.key", "token.expires", "check", "check.status",
         "ack.delay_time", "ack.map", "message.head", "message.length", "duplicate_of", "acknowledged_in",
         "acknowledges_packet", "round_trip"}
# Fields that are lists, and therefore there where they are empty.
EMPTY = {"offer": ("high_priority", "unknown"), "ack": ("missing",), "FATES": ("skipped",)}


class Datagram:
    """One datagram as tshark shows it."""

    def __init__(self, number, proto):
        self.number = number
        self.is_dissected = proto is not None
        self.fields = list(proto) if self.is_dissected else []
        self.all = list(proto.iter("field")) if self.is_dissected else []
        self.refused = next(iter(self.shown("porous.refused")), None)

    def forms(self):
        """The forms of a datagram that is not refused, as docs/vectors has them."""
        return [form_of(it) for it in self.fields if it.get("name") == "porous.form"]

    def shown(self, name):
        """All values of a field, as text."""
        return [it.get("show") for it in self.all if it.get("name") == name]


def short_name(field):
    return field.get("name", "").removeprefix("porous.")


def value_of(field):
    key, show = short_name(field).split(".")[-1], field.get("show", "")
    if key in TEXTS or key in IDS:
        return show
    if key in BYTES:
        return field.get("value", "")
    if key in BOOLS:
        return show in ("1", "True")
    return int(show, 0)


def fields_of(node, into):
    """Adds the fields below a node, and those within them, to an object."""
    for field in node:
        name = short_name(field)
        if name in EXTRA or not field.get("name", "").startswith("porous."):
            continue
        key = name.split(".")[-1]
        if name in ("offer", "ack"):
            into["acknowledgement" if name == "ack" else key] = object_of(field, EMPTY[name])
        elif name == "message":
            shown = field.get("show")
            into["messages"].append({"message": shown, **object_of(field, EMPTY.get(shown, ()))})
        elif name in LISTS:
            into.setdefault(key, []).append(object_of(field, ()) if len(field) else value_of(field))
        else:
            into[key] = value_of(field)
    return into


def object_of(node, empty):
    return fields_of(node, {key: [] for key in empty})


def form_of(node):
    form = {"form": node.get("show"), "messages": []}
    fields_of(node, form)
    # Sealed short forms and long forms have no messages that could be read.
    if form["form"] != "short form" or "sealed" in form:
        del form["messages"]
    if form["form"] not in ("REJ", "REQ of another version"):
        form.pop("version", None)
    if form["form"] == "REJ":
        del form["nonce_self"]
    return form


def tshark(*arguments):
    """Runs tshark with the dissector, and nothing of the user's own. Gives its output as lines of bytes."""
    nowhere = {"HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"}
    command = ["tshark", "-n", "-X", f"lua_script:{DISSECTOR}", *arguments]
    environment = {**os.environ, **nowhere, "LC_ALL": "C.UTF-8"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)


def datagrams(capture, *arguments, proto="porous"):
    """The datagrams of a capture. Fails if the dissector does."""
    process = tshark("-r", str(capture), "-T", "pdml", "-J", "porous porous_tools porous_acks", *arguments)
    for _, element in xml.iterparse(process.stdout):
        if element.tag == "packet":
            number = next(it.get("value") for it in element.iter("field") if it.get("name") == "num")
            check_for_errors(element, number)
            node = next((it for it in element.iter("proto") if it.get("name") == proto), None)
            yield Datagram(int(number, 16), node)
            element.clear()
    said = process.stderr.read().decode()
    assert process.wait() == 0, said
    assert "lua" not in said.lower(), said


def check_for_errors(element, number):
    """Fails if the dissector has failed, or has read beyond the end. Wireshark marks what the dissector itself calls
    malformed by a hidden protocol of the same name."""
    for field in element.iter():
        name = field.get("name", "")
        text = field.get("showname") or field.get("show") or ""
        is_failure = name == "_ws.malformed" and field.get("hide") != "yes" or text.startswith("Lua Error")
        assert not is_failure, f"packet {int(number, 16)}: {text}"


def complaint(datagram, expected):
    """How a datagram differs from what is expected of it, or None."""
    if "refused" in expected:
        if datagram.refused != expected["refused"]:
            return f"refused for {datagram.refused}, not for {expected['refused']}"
    elif "forms" in expected:
        if datagram.refused is not None:
            return f"refused for {datagram.refused}"
        if (forms := datagram.forms()) != expected["forms"]:
            return f"shown as\n  {json.dumps(forms, sort_keys=True)}\nand not as\n  " \
                   f"{json.dumps(expected['forms'], sort_keys=True)}"
    return None


def fields_in(value):
    """How many fields these forms have, names of forms and messages among them."""
    if isinstance(value, dict):
        return sum(map(fields_in, value.values()))
    if isinstance(value, list):
        return sum(map(fields_in, value)) or 1
    return 1


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    expected = [json.loads(line) for line in Path(sys.argv[2]).read_text().splitlines()]
    shown = list(datagrams(sys.argv[1]))
    if len(shown) != len(expected):
        sys.exit(f"{len(shown)} packets, and {len(expected)} lines")
    wrong = 0
    for datagram, line in zip(shown, expected):
        if text := complaint(datagram, line):
            wrong += 1
            print(f"packet {datagram.number}: {text}", file=sys.stderr)
    if wrong:
        sys.exit(f"{wrong} of {len(shown)} datagrams differ")
    compared = [line for line in expected if "forms" in line or "refused" in line]
    fields = sum(fields_in(line.get("forms", "refused")) for line in compared)
    if not fields:
        sys.exit("nothing to compare")
    print(f"{len(compared)} of {len(shown)} datagrams with {fields} fields, shown as they are expected")


if __name__ == "__main__":
    main()
