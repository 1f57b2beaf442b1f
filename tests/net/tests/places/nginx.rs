//! Two servers behind nginx. They see the address of nginx in place of those of the clients.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use crate::fleet::{Fleet, all_hear, counts};
use crate::lab::Lab;
use crate::space::Space;

/// The recipe.
const FILES: [&str; 2] = ["nginx.conf", "cid.js"];

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scale");

/// The module of nginx that runs the script of the recipe.
const MODULE: &str = "/usr/lib/nginx/modules/ngx_stream_js_module.so";

/// A running nginx with the files of the recipe, in a folder of its own.
struct Nginx<'l> {
    balancer: &'l Space,
    folder: PathBuf,
    process: Child,
}

impl<'l> Nginx<'l> {
    fn start(balancer: &'l Space) -> Self {
        let folder = std::env::temp_dir().join(balancer.full());
        fs::create_dir_all(&folder).unwrap();
        for file in FILES {
            fs::copy(Path::new(FOLDER).join(file), folder.join(file)).unwrap();
        }
        let process = balancer.start(&command(&folder));
        Self {
            balancer,
            folder,
            process,
        }
    }

    /// Stops nginx and starts it again, with the same address.
    fn restart(&mut self) {
        self.stop();
        self.process = self.balancer.start(&command(&self.folder));
    }

    fn stop(&mut self) {
        let process = self.process.id().to_string();
        Command::new("kill").arg(process).status().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Nginx<'_> {
    fn drop(&mut self) {
        self.stop();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// nginx in the foreground, with its files in this folder.
fn command(folder: &Path) -> Command {
    let mut command = Command::new("nginx");
    command.args([OsStr::new("-p"), folder.as_ref(), OsStr::new("-c")]);
    command.args(["nginx.conf", "-e", "stderr"]);
    command.args(["-g", "daemon off; pid nginx.pid;"]);
    command
}

/// A lab, if this machine has nginx with its modules.
fn open(name: &str) -> Option<Lab> {
    let lab = Lab::open(name)?;
    if Path::new(MODULE).exists() {
        return Some(lab);
    }
    let wanted = std::env::var_os("POROUS_REQUIRE_NETNS").is_some();
    assert!(
        !wanted,
        "POROUS_REQUIRE_NETNS is set, but there is no {MODULE}"
    );
    eprintln!("skipped: no nginx for this test (there is no {MODULE})");
    None
}

/// Every other client is sealed, beginning with the first.
fn sealed_or_not(number: u16) -> &'static str {
    ["sealed", ""][usize::from(number % 2)]
}

#[test]
fn clients_with_new_ports_stay_with_their_servers_behind_nginx() {
    let Some(lab) = open("nginx") else { return };
    let fleet = Fleet::new(&lab);
    let _nginx = Nginx::start(&fleet.balancer);
    fleet.assert_clients_with_new_ports_stay();
}

#[test]
fn a_proxy_that_restarts_costs_no_connection_plain_or_sealed() {
    let Some(lab) = open("again") else { return };
    let fleet = Fleet::new(&lab);
    let mut nginx = Nginx::start(&fleet.balancer);
    let mut servers = fleet.serve("roaming sealed");
    let mut clients = fleet.clients(sealed_or_not);
    all_hear(&mut clients);
    let had = counts(&mut servers, "connected");
    nginx.restart();
    all_hear(&mut clients);
    assert_eq!(counts(&mut servers, "moved"), had);
    assert_eq!(counts(&mut servers, "connected"), had);
}

/// What is configured by default: plain peers are not followed.
#[test]
fn without_roaming_a_proxy_that_restarts_costs_the_plain_connections_alone() {
    let Some(lab) = open("alone") else { return };
    let fleet = Fleet::new(&lab);
    let mut nginx = Nginx::start(&fleet.balancer);
    let _servers = fleet.serve("sealed");
    let mut clients = fleet.clients(sealed_or_not);
    all_hear(&mut clients);
    nginx.restart();
    for (number, client) in (0..).zip(&mut clients) {
        match sealed_or_not(number) {
            "" => assert_eq!(client.ended(), "Silent"),
            _ => client.hears(20),
        }
    }
}
