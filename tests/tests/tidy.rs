//! The rules of the house that a program can check. Each rule is a function from a file to complaints;
//! the tests at the end show that each rule can fail.

use porous_tests::sources::{SourceFile, files, functions};

/// The most lines of code of a file. Comments, blank lines and unit tests are not counted, or the type with
/// the best documentation would be cut first. A longer file has a type to cut; to cut its `impl` in two
/// would leave the type as large as it is.
const FILE_LENGTH: usize = 600;

/// The most lines of a function, so that it fits a screen.
const FUNCTION_LENGTH: usize = 70;

/// Exceptions: functions that are longer, and files that have more lines of code. These lists only ever
/// get shorter.
const LONG_FUNCTIONS: [&str; 0] = [];
const LONG_FILES: [&str; 0] = [];

/// Words that mark unfinished work. They are put together here, so that this file contains none of them.
const UNFINISHED: [&str; 5] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("X", "XX"),
    concat!("todo", "!"),
    concat!("unimplemented", "!"),
];

const CLOCKS: [&str; 3] = [
    concat!("Instant::", "now"),
    concat!("System", "Time"),
    concat!("thread::", "sleep"),
];

/// Folders of the machines on which the project is made.
const MACHINE_PATHS: [&str; 3] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
];

fn at(file: &SourceFile, line: usize, what: &str) -> String {
    format!("{}:{line}: {what}", file.path)
}

/// One complaint for each line that `is_bad`.
fn bad_lines(file: &SourceFile, what: &str, is_bad: impl Fn(&str) -> bool) -> Vec<String> {
    let lines = file.text.lines().enumerate();
    lines
        .filter(|(_, line)| is_bad(line))
        .map(|(index, _)| at(file, index + 1, what))
        .collect()
}

fn file_is_short(file: &SourceFile) -> Vec<String> {
    if LONG_FILES.contains(&file.path.as_str()) {
        return Vec::new();
    }
    let lines = lines_before_tests(file).enumerate();
    let mut code = lines.filter(|(_, line)| is_code(line));
    let excess = code.nth(FILE_LENGTH).into_iter();
    excess
        .map(|(index, _)| at(file, index + 1, "too many lines of code"))
        .collect()
}

/// True unless the line is blank, or nothing but a comment.
fn is_code(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with("//")
}

/// The lines of a file before its unit tests.
fn lines_before_tests(file: &SourceFile) -> impl Iterator<Item = &str> {
    let lines = file.text.lines();
    lines.take_while(|line| *line != "mod tests {")
}

/// The keyword of an item that begins at the margin, without its visibility.
fn declared(line: &str) -> Option<&str> {
    let mut words = line.split(' ').filter(|word| {
        let modifiers = ["const", "unsafe", "extern", "async", "default"];
        !word.starts_with("pub") && !modifiers.contains(word)
    });
    words.next().filter(|_| !line.starts_with(' '))
}

/// A slice of another file's `impl` is no type: cut the type.
fn file_has_a_type_or_functions(file: &SourceFile) -> Vec<String> {
    if file.is_test() || !file.path.contains("src/") {
        return Vec::new();
    }
    let has = |wanted: &[&str]| {
        lines_before_tests(file).any(|line| {
            let word = declared(line).map(|word| word.split(['<', '(']).next());
            word.flatten().is_some_and(|word| wanted.contains(&word))
        })
    };
    let own = [
        "struct",
        "enum",
        "trait",
        "union",
        "type",
        "fn",
        "macro_rules!",
    ];
    if has(&own) || !has(&["impl"]) {
        return Vec::new();
    }
    vec![at(file, 1, "nothing but methods of another file's type")]
}

/// Three values that belong together in a call have names: a struct.
fn no_parameter_is_a_long_tuple(file: &SourceFile) -> Vec<String> {
    let lines: Vec<&str> = lines_before_tests(file).collect();
    let mut found = Vec::new();
    for function in functions(&lines) {
        let head = function
            .lines
            .iter()
            .skip_while(|line| !line.contains("fn "));
        let head: Vec<&str> = head
            .copied()
            .take_while(|line| !line.ends_with('{'))
            .collect();
        let head = if head.is_empty() {
            function
                .lines
                .iter()
                .find(|line| line.contains("fn "))
                .map(|line| (*line).to_owned())
        } else {
            Some(head.concat())
        };
        if head.is_some_and(|head| has_long_tuple(&head)) {
            found.push(at(file, function.line, "a parameter of three values"));
        }
    }
    found
}

/// True if one of the parameters of this function is a tuple of three types or more.
fn has_long_tuple(head: &str) -> bool {
    let parameters = head.split("->").next().unwrap_or_default();
    parameters.match_indices(": (").any(|(start, _)| {
        let (mut depth, mut commas) = (0, 0);
        for c in parameters[start + 2..].chars() {
            match c {
                '(' | '<' | '[' => depth += 1,
                ')' | '>' | ']' => depth -= 1,
                ',' if depth == 1 => commas += 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        commas >= 2
    })
}

fn functions_are_short(file: &SourceFile) -> Vec<String> {
    let lines: Vec<&str> = file.text.lines().collect();
    functions(&lines)
        .iter()
        .filter(|function| function.length > FUNCTION_LENGTH)
        .filter(|function| !LONG_FUNCTIONS.contains(&function.name))
        .map(|function| at(file, function.line, &format!("{} is long", function.name)))
        .collect()
}

fn file_says_what_it_is(file: &SourceFile) -> Vec<String> {
    if file.text.starts_with("//! ") {
        return Vec::new();
    }
    vec![at(file, 1, "no //! line")]
}

fn nothing_is_unfinished(file: &SourceFile) -> Vec<String> {
    bad_lines(file, "unfinished", |line| {
        UNFINISHED.iter().any(|word| line.contains(word))
    })
}

/// A lint is expected with `expect`, so that the exception goes when its cause does.
fn no_lint_is_switched_off(file: &SourceFile) -> Vec<String> {
    bad_lines(file, "`expect` it, with its reason", |line| {
        let mut words = line.split(['[', ' ', ',']);
        let off = concat!("al", "low(");
        line.trim_start().starts_with('#') && words.any(|word| word.starts_with(off))
    })
}

/// Time is an argument. Only a driver's `clock.rs` reads a clock.
fn nobody_reads_a_clock(file: &SourceFile) -> Vec<String> {
    if file.path.ends_with("/clock.rs") {
        return Vec::new();
    }
    bad_lines(file, "time is an argument", |line| {
        CLOCKS.iter().any(|word| line.contains(word))
    })
}

fn no_trailing_space(file: &SourceFile) -> Vec<String> {
    bad_lines(file, "space at the end", |line| line.trim_end() != line)
}

fn no_machine_is_named(file: &SourceFile) -> Vec<String> {
    bad_lines(file, "a path of some machine", |line| {
        MACHINE_PATHS.iter().any(|path| line.contains(path))
    })
}

/// Every complaint about these files.
fn complaints(files: &[SourceFile], rules: &[Rule]) -> Vec<String> {
    let of_file = |file| rules.iter().flat_map(move |rule| rule(file));
    files.iter().flat_map(of_file).collect()
}

type Rule = fn(&SourceFile) -> Vec<String>;

const CODE: [Rule; 8] = [
    file_has_a_type_or_functions,
    no_parameter_is_a_long_tuple,
    file_is_short,
    functions_are_short,
    file_says_what_it_is,
    nothing_is_unfinished,
    no_lint_is_switched_off,
    nobody_reads_a_clock,
];

const TEXT: [Rule; 2] = [no_trailing_space, no_machine_is_named];

#[test]
fn the_code_is_tidy() {
    let files = files(&["rs"]);
    assert!(files.len() > 100, "where is the code?");
    let found = complaints(&files, &CODE);
    assert!(found.is_empty(), "{found:#?}");
}

/// Each room of the core and each folder with a crate stands in the map of CONTRIBUTING.md.
#[test]
fn the_map_is_complete() {
    let map = files(&["md"]);
    let map = map.iter().find(|file| file.path == "CONTRIBUTING.md");
    let map = &map.expect("a map").text;
    let core = files(&["rs"]);
    let rooms = core.iter().filter_map(|file| {
        let path = file.path.strip_prefix("porous-proto/src/")?;
        let room = path
            .split(['/', '.'])
            .next()
            .filter(|room| *room != "lib")?;
        Some(format!("| `{room}` |"))
    });
    let manifests = files(&["toml"]);
    let folders = || {
        let folder =
            |file: &'_ SourceFile| file.path.strip_suffix("/Cargo.toml").map(str::to_owned);
        manifests.iter().filter_map(folder)
    };
    // The crates of a workspace within this workspace are not shown one by one.
    let is_within = |folder: &str| {
        folders().any(|other| other.contains('/') && folder.starts_with(&format!("{other}/")))
    };
    let crates = folders().filter(|folder| !is_within(folder));
    let crates = crates.map(|folder| format!("| `{folder}/` |"));
    for place in rooms.chain(crates) {
        assert!(
            map.contains(&place),
            "CONTRIBUTING.md does not show {place}"
        );
    }
}

#[test]
fn all_text_is_tidy() {
    let files = files(&["rs", "md", "toml", "txt", "yml"]);
    let found = complaints(&files, &TEXT);
    assert!(found.is_empty(), "{found:#?}");
}

/// The numbers of the lines that a rule complains about.
fn found(rule: Rule, text: &str) -> Vec<usize> {
    let file = SourceFile {
        path: "a/b.rs".into(),
        text: text.into(),
    };
    let number = |complaint: String| {
        let rest = complaint.strip_prefix("a/b.rs:").map(str::to_owned);
        rest.and_then(|rest| rest.split(':').next()?.parse().ok())
            .unwrap_or_else(|| panic!("{complaint}"))
    };
    rule(&file).into_iter().map(number).collect()
}

#[test]
fn long_files_and_functions_are_found() {
    let with_tests = "x\n".repeat(600) + "mod tests {\n}\n";
    assert!(found(file_is_short, &with_tests).is_empty());
    assert_eq!(found(file_is_short, &"x\n".repeat(601)), [601]);
    let with_comments = "x\n\n    /// Y.\n".repeat(600);
    assert!(found(file_is_short, &with_comments).is_empty());
    assert_eq!(
        found(file_is_short, &(with_comments + "// Z.\nx\n")),
        [1802]
    );
    let function = |head: &str, lines: usize| {
        let body = "    x;\n\n".repeat(lines / 2 - 1);
        format!("//! A file.\n{head}{body}}}\n\nfn short() {{}}\n")
    };
    assert!(found(functions_are_short, &function("fn f() {\n", 70)).is_empty());
    for head in [
        "fn f() {\n",
        "pub(crate) const fn f<T>() {\n",
        "pub fn f(\n    a: u8,\n) -> u8\nwhere\n    u8: Copy,\n{\n",
    ] {
        assert_eq!(found(functions_are_short, &function(head, 72)), [2]);
    }
    let method = format!("impl A {{\n    fn f() {{\n{}    }}\n}}\n", "x\n".repeat(69));
    assert_eq!(found(functions_are_short, &method), [2]);
    let declared = format!("trait A {{\n    fn f();\n{}}}\n", "    x\n".repeat(99));
    assert!(found(functions_are_short, &declared).is_empty());
}

#[test]
fn slices_of_types_are_found() {
    let rule = |path: &str, text: &str| {
        let file = SourceFile {
            path: path.into(),
            text: text.into(),
        };
        file_has_a_type_or_functions(&file).len()
    };
    let slice = "//! A.\nuse super::B;\n\nimpl B {\n    fn b() {}\n}\n";
    assert_eq!(rule("a/src/b.rs", slice), 1);
    assert_eq!(rule("a/src/b/tests.rs", slice), 0);
    for own in [
        "pub(crate) const fn b() {}\n",
        "pub struct C<T>(T);\n",
        "enum C {}\n",
        "pub(super) trait C {}\n",
    ] {
        assert_eq!(rule("a/src/b.rs", &format!("{slice}\n{own}")), 0, "{own}");
        let in_tests = format!("{slice}\n#[cfg(test)]\nmod tests {{\n{own}}}\n");
        assert_eq!(rule("a/src/b.rs", &in_tests), 1, "{own}");
    }
    assert_eq!(rule("a/src/lib.rs", "//! A.\n\nmod b;\n"), 0);
}

#[test]
fn parameters_of_three_values_are_found() {
    for (head, is_long) in [
        ("fn f(a: u8, b: u8, c: u8) -> (u8, u8, u8) {", false),
        ("fn f((a, b): (u8, u8)) {", false),
        ("fn f((a, b, c): (u8, u8, u8)) {", true),
        (
            "    fn f(\n        a: u8,\n        (b, c, d): (u8, Vec<u8>, u8),\n    ) {",
            true,
        ),
        ("    fn f(&self, a: Option<(u8, u8)>, b: u8) {", false),
    ] {
        let indent = head.len() - head.trim_start().len();
        let text = format!(
            "{head}\n{}    x;\n{}}}\n",
            " ".repeat(indent),
            " ".repeat(indent)
        );
        let found = found(no_parameter_is_a_long_tuple, &text);
        assert_eq!(!found.is_empty(), is_long, "{head}");
    }
}

#[test]
fn files_without_a_purpose_are_found() {
    assert!(found(file_says_what_it_is, "//! What it is.\n").is_empty());
    assert_eq!(found(file_says_what_it_is, "\n//! Late.\n"), [1]);
    assert_eq!(found(file_says_what_it_is, "//!\n"), [1]);
}

#[test]
fn unfinished_things_are_found() {
    for word in UNFINISHED {
        let text = format!("fine\nlet a = 1; // {word} more\n");
        assert_eq!(found(nothing_is_unfinished, &text), [2], "{word}");
    }
}

#[test]
fn lints_that_are_switched_off_are_found() {
    let off = concat!("al", "low");
    for text in [
        format!("#[{off}(dead_code)]"),
        format!("    #![{off}(dead_code, reason = \"\")]"),
        format!("#[cfg_attr(test, {off}(dead_code))]"),
    ] {
        assert_eq!(found(no_lint_is_switched_off, &text), [1], "{text}");
    }
    let fine = format!("#[expect(dead_code)]\nfn {off}(a: u8) {{}}\nself.{off}(1);\n");
    assert!(found(no_lint_is_switched_off, &fine).is_empty());
}

#[test]
fn clocks_are_found_but_in_their_own_file() {
    for clock in CLOCKS {
        let text = format!("\nlet now = std::{clock}();\n");
        assert_eq!(found(nobody_reads_a_clock, &text), [2], "{clock}");
        let path = "porous-udp/src/clock.rs".into();
        assert!(nobody_reads_a_clock(&SourceFile { path, text }).is_empty());
    }
}

#[test]
fn spaces_at_the_end_and_paths_of_machines_are_found() {
    assert_eq!(found(no_trailing_space, "a\nb \n\t\n"), [2, 3]);
    for path in MACHINE_PATHS {
        let text = format!("a\nsee {path}somewhere\n");
        assert_eq!(found(no_machine_is_named, &text), [2], "{path}");
    }
}
