#!/usr/bin/awk -f
# Reads coverage in lcov's format: the lines of the core that no test runs, and the figure. Tests are
# not counted, nor what exists for tests only: hooks/, and the layers' audit.rs.

# The first line of the tests at the end of a file.
function first_test_line(path,    text, number, before) {
    number = 0
    before = ""
    while ((getline text < path) > 0) {
        number++
        if (before == "#[cfg(test)]" && text == "mod tests {") break
        before = text
    }
    close(path)
    return text == "mod tests {" ? number - 1 : number + 1
}

/^SF:/ {
    path = substr($0, 4)
    sub(/.*\/porous-proto\//, "porous-proto/", path)
    counts = path ~ /^porous-proto\/src\// &&
        path !~ /\/(audit|hooks|tests)\.rs$/ && path !~ /\/(hooks|tests)\//
    if (counts) end = first_test_line(path)
}

counts && /^DA:/ {
    split(substr($0, 4), line, ",")
    if (line[1] >= end) next
    lines++
    if (line[2] > 0) run++
    else print path ":" line[1]
}

END { printf "%d of %d lines, %.2f %%\n", run, lines, 100 * run / lines }
