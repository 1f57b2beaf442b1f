#!/usr/bin/env bash
# Prints the shape of the core in figures: `scripts/shape.sh [folder]`, by default porous-proto/src. Lines
# are lines of code, without comments, blank lines and tests. A slice is a file with nothing but methods of
# another file's type. docs/design.md has these figures before and after the core was cut into objects.
set -euo pipefail
cd "${1:-$(dirname "$0")/../porous-proto/src}"

# Files of modules that are only compiled for tests: `#[cfg(test)]` stands above their `mod name;`.
tests=$(grep -rA1 --include='*.rs' -F '#[cfg(test)]' . | sed -n 's/^\(.*\)\.rs-\(pub(.*) \)\?mod \([a-z_]*\);$/\1 \3/p' |
    while read -r parent name; do
        folder=${parent%/mod}
        [[ $parent != */lib ]] || folder=${parent%/lib}
        for place in "$folder/$name" "${folder%/*}/$name"; do
            [[ ! -e $place.rs ]] || printf '%s\n' "$place.rs"
        done
    done)
find . -name '*.rs' ! -name tests.rs ! -path '*/tests/*' | sort | grep -vxF "${tests:-none}" | xargs awk '
    FNR == 1 { files++; in_tests = 0; own = 0; slice = 0; names[files] = FILENAME }
    /^mod tests \{/ { in_tests = 1 }
    in_tests { next }
    /^[ \t]*\/\/[\/!]/ { next }
    /^[ \t]*\/\// { inline++; next }
    /^[ \t]*$/ { next }
    { lines++; room = FILENAME; sub(/^\.\//, "", room); sub(/[\/.].*/, "", room); rooms[room]++ }
    / \/\/ / { inline++ }
    /^(pub(\([a-z]+\))? )?(const |unsafe )*(struct|enum|trait|union|type|fn|macro_rules!)[ <!]/ { has_own[FILENAME] = 1 }
    /^impl/ { has_impl[FILENAME] = 1 }
    END {
        for (i in names) if (has_impl[names[i]] && !has_own[names[i]]) slices++
        printf "files %d\nlines %d\nslices %d\ninline comments %d (%.1f %%)\n",
            files, lines, slices, inline, 100 * inline / (lines + inline)
        for (room in rooms) printf "%7d %s\n", rooms[room], room | "sort -k2"
    }'
