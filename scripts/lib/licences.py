"""Lists the licences of all crates that go into what this project builds, from what `cargo metadata` says.

usage: licences.py            prints the list
       licences.py --check    fails unless docs/licences.md is that list, or if a crate names no licence. What belongs to
                              a workspace whose crates are not on this machine is left out, and it says so

Crates that only tests and benchmarks need are left out. Versions are as well, so that the list changes only when a
crate comes, goes, or changes its licence.
"""
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LIST = ROOT / "docs" / "licences.md"
WORKSPACES = {
    ".": "The crates, the C interface and the program",
    "bevy": "The backend for Bevy",
    "godot": "The peer for Godot",
    "web": "Browsers",
}
HEAD = """# Licences

The crates of others that go into what this project builds, by their licences, without those that only tests and
benchmarks need. porous itself is licensed under MIT or Apache-2.0, at your choice. `scripts/licences.sh` checks this
list, and `scripts/licences.sh --bless` writes it; `deny.toml` says which licences may be among them.
"""


# Members that are not published, and are built for others all the same.
BUILT = {"porous-ffi", "porous-godot", "porous-web", "porous-wasm", "porous-play"}


# What cargo says if it needs the network and must not use it.
OFFLINE = ("but --offline was specified", "you're using offline mode")


def metadata(workspace, *options):
    """What cargo says of a workspace; None if it needs crates that it must not fetch."""
    manifest = ROOT / workspace / "Cargo.toml"
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features", *options]
    run = subprocess.run([*command, "--manifest-path", str(manifest)], capture_output=True, text=True)
    if run.returncode == 0:
        return json.loads(run.stdout)
    if any(words in run.stderr for words in OFFLINE):
        return None
    sys.exit(f"licences.py: cargo metadata of {workspace} fails:\n{run.stderr}")


def shipped(data):
    """The packages of others that the members need, but not their tests."""
    packages = {package["id"]: package for package in data["packages"]}
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    members = [packages[member] for member in data["workspace_members"]]
    left = [member["id"] for member in members if member["publish"] is None or member["name"] in BUILT]
    seen = set()
    while left:
        package = left.pop()
        if package in seen:
            continue
        seen.add(package)
        for dependency in nodes[package]["deps"]:
            if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"]):
                left.append(dependency["pkg"])
    return [packages[package] for package in seen if packages[package]["source"]]


def section(workspace, data):
    by_licence = {}
    for package in shipped(data):
        licence = package["license"] or (package["license_file"] and "a text of its own")
        if not licence:
            sys.exit(f"licences.py: {package['name']} names no licence")
        # Slashes are an old way to say OR.
        licence = licence.replace(" / ", "/").replace("/", " OR ")
        by_licence.setdefault(licence, set()).add(package["name"])
    rows = [f"| {licence} | {', '.join(sorted(names))} |" for licence, names in sorted(by_licence.items())]
    head = f"\n## {WORKSPACES[workspace]}\n\n| licence | crates |\n|---|---|\n"
    return head + "\n".join(rows) + "\n"


def check():
    text = LIST.read_text()
    for workspace in WORKSPACES:
        data = metadata(workspace, "--offline")
        if not data:
            print(f"skipped: not all crates of {workspace} are here")
        elif section(workspace, data) not in text:
            sys.exit("licences.py: docs/licences.md is another list: scripts/licences.sh --bless writes it")


def main():
    if "--check" in sys.argv[1:]:
        check()
    else:
        print(HEAD + "".join(section(workspace, metadata(workspace)) for workspace in WORKSPACES), end="")


if __name__ == "__main__":
    main()
