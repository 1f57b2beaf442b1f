//! A network of its own for a test: namespaces, and wires between them.

use core::cell::RefCell;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use crate::space::{Space, run};

/// Where the program `ip` keeps the names of namespaces.
const NAMES: &str = "/run/netns";

/// The namespaces of one test. They are deleted when this value is dropped. Those of a run that was killed
/// are deleted when the next run begins.
pub(crate) struct Lab {
    prefix: String,
    spaces: RefCell<Vec<Space>>,
}

impl Lab {
    /// A new lab, or `None` if this machine cannot have one and `POROUS_REQUIRE_NETNS` is not set. `name` is
    /// a short name of the test.
    pub(crate) fn open(name: &str) -> Option<Self> {
        static MISSING: OnceLock<Option<String>> = OnceLock::new();
        if let Some(reason) = MISSING.get_or_init(|| prepare().err()) {
            let wanted = std::env::var_os("POROUS_REQUIRE_NETNS").is_some();
            assert!(
                !wanted,
                "POROUS_REQUIRE_NETNS is set, but there are no networks: {reason}"
            );
            eprintln!("skipped: no networks for this test ({reason})");
            return None;
        }
        let prefix = format!("{}{name}", own_prefix(std::process::id()));
        let spaces = RefCell::new(Vec::new());
        Some(Self { prefix, spaces })
    }

    /// A machine without any wire.
    pub(crate) fn space(&self, name: &str) -> Space {
        let full = format!("{}-{name}", self.prefix);
        run(Command::new("ip").args(["netns", "add", &full])).unwrap();
        let space = Space::new(name, full);
        self.spaces.borrow_mut().push(space.clone());
        // No other machine is on these wires, so an address can be used without duplicate detection.
        space.set("net/ipv6/conf/default/accept_dad", "0");
        space.set("net/ipv6/conf/default/router_solicitations", "0");
        space.run("ip link set lo up");
        space
    }

    /// A machine that passes packets on.
    pub(crate) fn router(&self, name: &str) -> Space {
        let space = self.space(name);
        space.set("net/ipv4/ip_forward", "1");
        space.set("net/ipv6/conf/all/forwarding", "1");
        space
    }

    /// A wire between two machines. The end that leads to the machine `s` is named `to-s`.
    pub(crate) fn wire(&self, a: (&Space, &[&str]), b: (&Space, &[&str])) {
        let (a_name, b_name) = (to(b.0), to(a.0));
        let (a_space, b_space) = (a.0.full(), b.0.full());
        let words = format!(
            "link add {a_name} netns {a_space} type veth peer name {b_name} netns {b_space}"
        );
        run(Command::new("ip").args(words.split(' '))).unwrap();
        for ((space, addresses), device) in [(a, a_name), (b, b_name)] {
            space.run(&format!("ip link set {device} up"));
            for address in addresses {
                space.run(&format!("ip address add {address} dev {device}"));
            }
        }
    }
}

/// The name of the device that leads to this machine.
fn to(space: &Space) -> String {
    format!("to-{}", space.name())
}

impl Drop for Lab {
    fn drop(&mut self) {
        for space in self.spaces.borrow().iter() {
            // If it fails, the next run tries again.
            let _ = delete(space.full());
        }
    }
}

fn own_prefix(process: u32) -> String {
    format!("porous-{process}-")
}

fn delete(space: &str) -> Result<(), String> {
    run(Command::new("ip").args(["netns", "delete", space])).map(drop)
}

/// Deletes the namespaces of runs that were killed, and checks that this machine has all that the tests
/// need.
fn prepare() -> Result<(), String> {
    let names = std::fs::read_dir(NAMES).into_iter().flatten().flatten();
    for name in names.filter_map(|entry| entry.file_name().into_string().ok()) {
        let process = name
            .strip_prefix("porous-")
            .and_then(|rest| rest.split('-').next());
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            delete(&name)?;
        }
    }
    run(Command::new("conntrack").arg("--version"))?;
    if !Path::new("/dev/net/tun").exists() {
        return Err("there is no /dev/net/tun".into());
    }
    let probe = format!("{}probe", own_prefix(std::process::id()));
    run(Command::new("ip").args(["netns", "add", &probe]))?;
    let rules = "add table inet probe";
    let tried = run(Command::new("ip").args(["netns", "exec", &probe, "nft", rules]));
    delete(&probe)?;
    tried.map(drop)
}
