//! `porous token`: makes keys and tickets by hand, and tells what is in a ticket.

use core::fmt;
use core::net::{IpAddr, SocketAddr};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum, value_parser};
use porous_std::OsRng;
use porous_token::{Claims, PublicKey, Suite, Ticket, TokenKey};

use crate::clock::unix_seconds;
use crate::exit::{Failed, wrong};
use crate::json::print;

/// The most bytes that are read of a file: those of the longest ticket, and some for spaces.
const LONGEST: u64 = 4096;

/// A backend does this in its own language (`docs/security.md`). These commands are for a developer.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Prints a new token key: 64 digits, which the backend and its game servers share
    Key,
    // Described by their arguments.
    Mint(MintArgs),
    Show(ShowArgs),
}

/// Prints a ticket for one player, as text
///
/// The ticket is a secret until it has been used or has expired: its thief would be the player.
///
/// The exit status is 0, 1 if the ticket cannot be printed, or 2 if an argument means nothing.
#[derive(Debug, Args)]
pub(crate) struct MintArgs {
    /// The file of the token key, 64 hexadecimal digits; - for standard input
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The number by which servers know the key
    #[arg(long, value_name = "N", default_value_t = 0)]
    key_number: u8,
    /// The application id of the game, decimal or 0x and hexadecimal
    #[arg(long, value_name = "ID", value_parser = number)]
    application: u64,
    /// The player's id, decimal or 0x and hexadecimal
    #[arg(long, value_name = "ID", value_parser = number)]
    client: u64,
    /// Seconds until the ticket expires
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = value_parser!(u32).range(1..))]
    seconds: u32,
    /// The Unix second in which it is made [default: now]
    #[arg(long, value_name = "SECOND")]
    created: Option<u64>,
    /// Lets the player in once
    #[arg(long)]
    single_use: bool,
    /// The id of a server that takes it; up to four [default: every server that has the key]
    #[arg(long, value_name = "ID", value_parser = number)]
    audience: Vec<u64>,
    /// The only IP address from which the player may come
    #[arg(long, value_name = "IP")]
    ip: Option<IpAddr>,
    /// What the server is told of the player, up to 255 bytes
    #[arg(long, value_name = "TEXT", default_value = "")]
    data: String,
    /// By what the token is sealed
    #[arg(long, default_value = "chacha")]
    suite: SuiteArg,
    /// The address of a server; up to 32
    #[arg(long, value_name = "ADDRESS:PORT")]
    server: Vec<SocketAddr>,
    /// The server's public key, in hexadecimal digits
    #[arg(long, value_name = "DIGITS", value_parser = public_key)]
    server_key: Option<PublicKey>,
}

/// Prints what is in a ticket, without its secret
///
/// With the token key also what the token says of the player. Whether it has expired is not checked.
///
/// The exit status is 0, 1 if the key does not open the token or nothing can be printed, or 2 if an argument means nothing.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The file of the ticket; - for standard input
    #[arg(value_name = "FILE")]
    ticket: PathBuf,
    /// The file of the token key, 64 hexadecimal digits
    #[arg(long, value_name = "FILE", requires = "application")]
    key: Option<PathBuf>,
    /// The application id of the game, decimal or 0x and hexadecimal
    #[arg(long, value_name = "ID", value_parser = number, requires = "key")]
    application: Option<u64>,
}

/// What seals a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SuiteArg {
    /// ChaCha20-Poly1305
    #[value(name = "chacha")]
    ChaCha,
    /// AES-256-GCM
    Aes,
}

impl SuiteArg {
    const fn suite(self) -> Suite {
        match self {
            Self::ChaCha => Suite::CHACHA_POLY,
            Self::Aes => Suite::AES_GCM,
        }
    }
}

/// A number of 64 bits.
fn number(text: &str) -> Result<u64, &'static str> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| "an id is a number of 64 bits, decimal or 0x and hexadecimal")
}

fn public_key(digits: &str) -> Result<PublicKey, &'static str> {
    let bytes = base16ct::mixed::decode_vec(digits).unwrap_or_default();
    // A shorter key is one that was cut off, whatever the suite.
    let bytes = Some(bytes).filter(|bytes| bytes.len() >= 32);
    let key = bytes.and_then(|bytes| PublicKey::from_bytes(&bytes));
    key.ok_or("a public key has 64 hexadecimal digits, or up to 130 of a suite of one's own")
}

/// Runs a command.
pub(crate) fn main(command: &TokenCommand) -> ExitCode {
    let done = match command {
        TokenCommand::Key => Ok(new_key()),
        TokenCommand::Mint(args) => mint(args),
        TokenCommand::Show(args) => return show(args),
    };
    match done {
        Ok(text) => tell(&text, ExitCode::SUCCESS),
        Err(line) => wrong(&line),
    }
}

/// Prints a text. Returns `status` if that went well.
fn tell(text: &str, status: ExitCode) -> ExitCode {
    let printed = print(format!("{text}\n").as_bytes());
    printed.map_or_else(|error| Failed::of_stdout(&error).exit(), |()| status)
}

fn new_key() -> String {
    let key = TokenKey::generate(&mut OsRng::default());
    base16ct::lower::encode_string(key.as_bytes())
}

fn mint(args: &MintArgs) -> Result<String, String> {
    let key = read_key(&args.key)?;
    let ticket = Ticket::mint(&key, &claims(args)?, &mut OsRng::default()).map_err(text)?;
    let mut ticket = ticket.with_servers(&args.server).map_err(text)?;
    if let Some(key) = &args.server_key {
        ticket = ticket.with_server_key(key.clone());
    }
    Ok(ticket.to_text())
}

fn claims(args: &MintArgs) -> Result<Claims, String> {
    let created = match args.created {
        Some(created) => created,
        None => {
            unix_seconds().ok_or("the clock shows a time before 1970: name one by --created")?
        }
    };
    let expires = created.checked_add(args.seconds.into());
    let expires = expires.ok_or("--created is too late for a number of 64 bits")?;
    let mut claims = Claims::new(args.application, args.client, created..expires)
        .key_number(args.key_number)
        .suite(args.suite.suite());
    if args.single_use {
        claims = claims.single_use();
    }
    for &server in &args.audience {
        claims = claims.audience(server).map_err(text)?;
    }
    if let Some(ip) = args.ip {
        claims = claims.ip(ip);
    }
    claims.user_data(args.data.as_bytes()).map_err(text)
}

fn show(args: &ShowArgs) -> ExitCode {
    let said = read(&args.ticket).and_then(|text| {
        let ticket = Ticket::from_text(&text).map_err(self::text)?;
        let key = args.key.as_deref().map(read_key).transpose()?;
        Ok((ticket, key))
    });
    let (ticket, key) = match said {
        Ok(said) => said,
        Err(line) => return wrong(&line),
    };
    let mut lines = describe(&ticket);
    let mut status = ExitCode::SUCCESS;
    if let (Some(key), Some(application)) = (key, args.application) {
        match ticket
            .token()
            .open(&porous_std::RustCrypto, &key, application)
        {
            Ok((claims, psk)) => {
                describe_claims(&claims, &mut lines);
                // The two are made together; a ticket with another psk lets nobody in.
                if psk.as_bytes() != ticket.psk().as_bytes() {
                    eprintln!("error: the ticket has another psk than its token");
                    status = ExitCode::FAILURE;
                }
            }
            Err(error) => {
                eprintln!("error: {error}");
                status = ExitCode::FAILURE;
            }
        }
    }
    tell(lines.trim_end(), status)
}

fn describe(ticket: &Ticket) -> String {
    let mut lines = String::new();
    let token = ticket.token();
    line(&mut lines, "expires", &ticket.expires());
    line(&mut lines, "key number", &token.key_number());
    line(
        &mut lines,
        "token",
        &format!("{} bytes", token.as_bytes().len()),
    );
    for server in ticket.servers() {
        line(&mut lines, "server", server);
    }
    if let Some(key) = ticket.server_key() {
        let digits = base16ct::lower::encode_string(key.as_bytes());
        line(&mut lines, "server key", &digits);
    }
    lines
}

fn describe_claims(claims: &Claims, lines: &mut String) {
    line(lines, "client", &claims.client_id());
    line(lines, "created", &claims.validity().start);
    let uses = if claims.is_single_use() {
        "one"
    } else {
        "any number"
    };
    line(lines, "uses", &uses);
    for server in claims.audiences() {
        line(lines, "audience", server);
    }
    if let Some(ip) = claims.bound_ip() {
        line(lines, "ip", &ip);
    }
    if !claims.data().is_empty() {
        // Bytes that are no text, or would confuse a terminal, are escaped.
        line(lines, "data", &claims.data().escape_ascii());
    }
}

fn line(lines: &mut String, name: &str, value: &impl fmt::Display) {
    lines.push_str(&format!("{name:<11} {value}\n"));
}

fn text(error: impl fmt::Display) -> String {
    error.to_string()
}

/// The text of a short file, without spaces at its ends.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    let mut text = String::new();
    let read = if path.as_os_str() == "-" {
        io::stdin().take(LONGEST).read_to_string(&mut text)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(LONGEST).read_to_string(&mut text))
    };
    read.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok(text.trim().to_owned())
}

fn read_key(path: &Path) -> Result<TokenKey, String> {
    read_digits(path, "token key").map(TokenKey::from_bytes)
}

/// The 32 bytes that a file has in 64 hexadecimal digits. `what` they are is told to the user.
pub(crate) fn read_digits(path: &Path, what: &str) -> Result<[u8; 32], String> {
    let text = read(path)?;
    let mut key = [0; 32];
    let is_key = matches!(base16ct::mixed::decode(&text, &mut key), Ok(bytes) if bytes.len() == 32);
    is_key
        .then_some(key)
        .ok_or_else(|| format!("{} is no {what} of 64 hexadecimal digits", path.display()))
}
