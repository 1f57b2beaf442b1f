//! A value that the documentation calls a default is the one in the code: each sentence that begins with
//! `Default` is found, and its value compared with that of the field, as `Debug` shows it.

use core::time::Duration;

use porous_message::{MessageChannel, MessageConfig};
use porous_proto::congestion::Advisor;
use porous_proto::{Channel, Config, Mode, Priority, SendOptions};
use porous_sim::{LinkConfig, Seed, World};
use porous_tests::sources::{SourceFile, files, functions};

/// All fields of a type of which nothing was set, as `Debug` shows them. `None` for an unknown type.
fn fresh(owner: &str) -> Option<String> {
    let message = MessageConfig::new(&[MessageChannel::reliable()]);
    Some(match owner {
        "Config" => format!("{:?}", Config::new()),
        "Channel" => format!("{:?}", Channel::new(Priority::Low)),
        "SendOptions" => format!("{:?}", SendOptions::new(Mode::Reliable)),
        "Advisor" => format!("{:?}", Advisor::new()),
        "LinkConfig" => format!("{:?}", LinkConfig::new()),
        "World" => {
            let mut world = World::new(Seed::new(1), LinkConfig::new());
            world.add_host(1, Config::client());
            format!("{world:?}")
        }
        "Endpoint" => {
            let socket = porous_udp::bind("127.0.0.1:0").ok()?;
            let host = porous_udp::Endpoint::new(socket, Config::new()).ok()?;
            format!("{host:?}")
        }
        "MessageChannel" => format!("{:?}", MessageChannel::reliable()),
        "MessageConfig" => format!("{:?}", message.ok()?),
        _ => return None,
    })
}

/// The fields of a setter that has another name than its field.
fn fields_of<'a>(owner: &str, setter: &'a str) -> Vec<&'a str> {
    match (owner, setter) {
        ("Config", "channels") => vec!["channel_count", "priority"],
        ("Config", "receive_budget") => vec!["max_packet", "receive_budget"],
        ("Config", "windows") => vec!["frame_window_log2", "packet_window_log2"],
        ("Config", "bandwidth") => vec!["send_rate", "receive_rate"],
        ("Config", "reply_limits") => vec!["replies_per_address", "replies"],
        ("Advisor", "highest_loss") => vec!["allowed"],
        ("LinkConfig", "burst_loss") => vec!["enter"],
        ("MessageChannel", "blocks") => vec!["max_block"],
        ("MessageConfig", "messages_per_packet") => vec!["per_packet"],
        ("Endpoint", "set_time_limit") => vec!["time_limit"],
        ("World", "set_socket_buffer") => vec!["capacity"],
        _ => vec![setter],
    }
}

/// Values that the documentation says in words.
const WORDS: [(&str, &str); 10] = [
    ("one of low priority", "1 and Low"),
    ("that of the policy", "None"),
    ("it lives for ever", "None"),
    ("yes", "true"),
    ("no", "false"),
    ("none", "0"),
    ("no limit", "18446744073709551615"),
    ("all that there is", "18446744073709551615"),
    ("twice the jitter", "None"),
    ("by the round trip", "ByRoundTrip"),
];

/// The value of a field in the output of `Debug`.
fn field(shown: &str, name: &str) -> Option<String> {
    let begins = |before: &str| before.ends_with("{ ") || before.ends_with(", ");
    let label = format!("{name}: ");
    let mut places = shown.match_indices(&label);
    let (place, _) = places.find(|&(place, _)| begins(&shown[..place]))?;
    let rest = &shown[place + label.len()..];
    let mut depth = 0_i32;
    let end = rest.find(|c| {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        depth < 0 || depth == 0 && c == ','
    });
    Some(plain(rest[..end.unwrap_or(rest.len())].trim(), name))
}

/// A number or a name, without the types around it.
fn plain(value: &str, name: &str) -> String {
    let value = value.strip_prefix("Chance { below: ").unwrap_or(value);
    let value = value.rsplit_once('(').map_or(value, |(_, inner)| inner);
    let value = value.trim_end_matches([' ', '}', ')']);
    match value.parse::<u32>() {
        Ok(log2) if name.ends_with("_log2") => (1_u32 << log2).to_string(),
        _ if value == "0ns" => "0".into(),
        _ => value.into(),
    }
}

/// A value of a sentence, as `Debug` would show it.
fn said_value(said: &str) -> String {
    let said = said.trim_matches(['[', ']', '`']);
    match said {
        "u32::MAX" => return u32::MAX.to_string(),
        "usize::MAX" => return usize::MAX.to_string(),
        _ => {}
    }
    let (number, unit) = said.split_once(' ').unwrap_or((said, ""));
    let Ok(number) = number.replace(',', "").parse::<u64>() else {
        let name = said.rsplit("::").next();
        return name.unwrap_or(said).into();
    };
    match unit {
        "KiB" => (number << 10).to_string(),
        "MiB" => (number << 20).to_string(),
        "ms" => format!("{:?}", Duration::from_millis(number)),
        "s" => format!("{:?}", Duration::from_secs(number)),
        _ => number.to_string(),
    }
}

/// The values of a sentence.
fn said_values(said: &str, between: &str) -> String {
    let word = WORDS.iter().find(|(words, _)| *words == said);
    let values = said.split(between).map(said_value);
    word.map_or_else(
        || values.collect::<Vec<_>>().join(" and "),
        |(_, value)| (*value).into(),
    )
}

/// The text of a documentation comment, without examples.
fn prose(lines: &[&str]) -> String {
    let mut is_code = false;
    let mut words = Vec::new();
    for line in lines {
        let Some(text) = line.trim_start().strip_prefix("///") else {
            continue;
        };
        let text = text.trim();
        if text.starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            words.push(text);
        }
    }
    words.join(" ")
}

/// The text behind each `Default` that begins a sentence, up to the end of the value.
fn defaults(prose: &str) -> Vec<&str> {
    let begins =
        |before: &str| before.is_empty() || before.ends_with(". ") || before.ends_with("  ");
    let found = prose.match_indices("Default").filter_map(|(place, word)| {
        let rest = &prose[place + word.len()..];
        let rest = rest.strip_prefix(": ").or_else(|| rest.strip_prefix(' '))?;
        let ends = [". ", ", ", "; ", ": ", " ("].map(|end| rest.find(end));
        let end = ends.into_iter().flatten().min().unwrap_or(rest.len());
        begins(&prose[..place]).then(|| rest[..end].trim_end_matches('.'))
    });
    found.collect()
}

/// The type whose `impl` a line is in, without its parameters. For the verbs that a macro gives to
/// several types, the type that has the fields.
fn owner<'a>(lines: &[&'a str], line: usize) -> Option<&'a str> {
    let mut before = lines[..line].iter().rev();
    before.find_map(|line| {
        if line.starts_with("macro_rules! verbs") {
            return Some("Endpoint");
        }
        let rest = line.strip_prefix("impl")?;
        let name = match rest.strip_prefix('<') {
            Some(generics) => generics.split_once("> ")?.1,
            None => rest.strip_prefix(' ')?,
        };
        name.split(['<', ' ']).next()
    })
}

/// The number of defaults that a file states, and a complaint for each wrong one.
fn check(file: &SourceFile) -> (usize, Vec<String>) {
    let lines: Vec<&str> = file.text.lines().collect();
    let (mut told, mut wrong) = (0, Vec::new());
    for function in functions(&lines) {
        let prose = prose(function.lines);
        for said in defaults(&prose) {
            told += 1;
            let owner = owner(&lines, function.line).unwrap_or("nobody");
            let shown = fresh(owner).unwrap_or_default();
            let fields = fields_of(owner, function.name);
            let values = fields.iter().filter_map(|name| field(&shown, name));
            let has = values.collect::<Vec<_>>().join(" and ");
            if has.is_empty() || said_values(said, " and ") != has {
                let (path, line, name) = (&file.path, function.line, function.name);
                wrong.push(format!("{path}:{line}: {name}: {said:?} is {has:?}"));
            }
        }
    }
    (told, wrong)
}

#[test]
fn what_is_called_a_default_is_one() {
    let (mut told, mut wrong) = (0, Vec::new());
    let files = files(&["rs"]);
    for file in files.iter().filter(|file| !file.is_test()) {
        let (count, found) = check(file);
        told += count;
        wrong.extend(found);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(told > 50, "{told}: they were not found");
}

/// The text of a function.
fn text_of(path: &str, name: &str) -> String {
    let files = files(&["rs"]);
    let file = files.iter().find(|file| file.path == path).expect("a file");
    let lines: Vec<&str> = file.text.lines().collect();
    let functions = functions(&lines);
    let function = functions.iter().find(|function| function.name == name);
    function.expect("a function").lines.join("\n")
}

/// Each row has a setter, its value in the small configuration, and its default value.
#[test]
fn the_table_of_the_small_configuration_is_right() {
    let text = text_of("porous-proto/src/config.rs", "embedded");
    let configs = [Config::embedded(), Config::new()].map(|config| format!("{config:?}"));
    let mut rows = 0;
    for row in text
        .lines()
        .filter(|line| line.contains("(Self::") && line.contains('|'))
    {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let Some(name) = cells[1].split(['`', '`']).nth(1) else {
            continue;
        };
        if name == "new" || cells[1].is_empty() {
            continue;
        }
        rows += 1;
        for (said, shown) in cells[2..].iter().zip(&configs) {
            let between = if said.contains(" and ") {
                " and "
            } else {
                ", "
            };
            let values = fields_of("Config", name).into_iter();
            let has: Vec<_> = values.filter_map(|name| field(shown, name)).collect();
            assert_eq!(said_values(said, between), has.join(" and "), "{row}");
        }
    }
    assert_eq!(rows, 5);
}

/// Each row of the table for C has fields, as the header names them, and the value of all of them.
#[test]
fn the_table_of_the_configuration_of_c_is_right() {
    let pages = files(&["md"]);
    let page = pages.iter().find(|file| file.path == "docs/c.md");
    let (_, part) = page
        .and_then(|page| page.text.split_once("## Configuration"))
        .expect("the section");
    let shown = format!("{:?}", Config::new());
    let part = part.split("\n## ").next().unwrap_or(part);
    let mut rows = 0;
    for row in part.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        for name in cells[1].split(", ").map(|name| name.trim_matches('`')) {
            rows += 1;
            let name = name.strip_suffix("_us").unwrap_or(name);
            let log2 = format!("{name}_log2");
            let has = field(&shown, name).or_else(|| field(&shown, &log2));
            assert_eq!(Some(said_value(cells[2])), has, "{row}");
        }
    }
    assert_eq!(rows, 18);
}

/// The default keepalive is longer than a quarter of the default timeout, which is therefore what counts.
#[test]
fn the_default_keepalive_is_what_a_quarter_of_the_timeout_leaves() {
    let timeout = field(&format!("{:?}", Config::new()), "timeout");
    let seconds: f64 = timeout
        .and_then(|timeout| timeout.strip_suffix('s')?.parse().ok())
        .expect("seconds");
    let prose = text_of("porous-proto/src/config/timeouts.rs", "keepalive");
    let told = format!("with the default timeout {} s", seconds / 4.0);
    assert!(prose.contains(&told), "{told}");
}

fn wrong(text: &str) -> usize {
    let (path, text) = ("porous-proto/src/x.rs".into(), text.into());
    check(&SourceFile { path, text }).1.len()
}

#[test]
fn a_default_that_is_not_so_is_found() {
    let setter = |said: &str, name: &str| {
        format!("impl Config {{\n    /// So many. {said}\n    pub fn {name}(self) {{\n    }}\n}}\n")
    };
    for (said, name, expected) in [
        ("Default 1200.", "max_datagram", 0),
        ("Default: 1,200 of them.", "max_datagram", 0),
        ("Default 1201.", "max_datagram", 1),
        ("Default 4096 and 4096; not more.", "windows", 0),
        ("Default 4096 and 2048.", "windows", 1),
        ("Default: 4 MiB, of one.", "send_budget", 0),
        ("Default 4 KiB.", "send_budget", 1),
        ("Default 10 s.", "timeout", 0),
        ("Default 10 ms.", "timeout", 1),
        ("Default\n    /// [`Policy::Modern`].", "policy", 0),
        ("Default [`Policy::Paper`].", "policy", 1),
        ("Default `true`: yes.", "ecn", 0),
        ("Default `false`.", "ecn", 1),
        ("Default 7.", "nothing_of_this_name", 1),
    ] {
        assert_eq!(wrong(&setter(said, name)), expected, "{said}");
    }
    let nobody = "impl Nobody {\n    /// Default 7.\n    fn ecn() {\n    }\n}\n";
    assert_eq!(wrong(nobody), 1);
    let example =
        "impl Config {\n    /// ```\n    /// Default 7.\n    /// ```\n    fn ecn() {\n    }\n}\n";
    assert_eq!(wrong(example), 0);
}
