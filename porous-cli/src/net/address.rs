//! The addresses that users name.

use core::fmt;
use core::net::SocketAddr;
use std::net::ToSocketAddrs;

/// The most addresses of a name that are tried: as many as a host takes.
const ADDRESSES: usize = 8;

/// A host and a port, as the user has named them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    host: String,
    port: u16,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') {
            write!(f, "[{host}]:{port}")
        } else {
            write!(f, "{host}:{port}")
        }
    }
}

/// Reads HOST:PORT. An IPv6 address stands in brackets, as its colons are no ends of hosts.
pub(crate) fn place(text: &str) -> Result<Place, &'static str> {
    let parse = || {
        let (host, port) = text.rsplit_once(':')?;
        let port = port.parse().ok()?;
        let inner = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let host = match inner {
            Some(inner) => inner,
            None if host.contains([':', '[', ']']) => return None,
            None => host,
        };
        let is_name = !host.is_empty() && !host.contains(char::is_whitespace);
        is_name.then(|| Place {
            host: host.to_owned(),
            port,
        })
    };
    parse().ok_or("an address is HOST:PORT, such as localhost:4000, 192.0.2.1:4000 or [::1]:4000")
}

impl Place {
    /// The addresses that the name stands for, in the order of the system, which prefers the family that works.
    pub(crate) fn addresses(&self) -> Result<Vec<SocketAddr>, String> {
        let found = (self.host.as_str(), self.port).to_socket_addrs();
        let found = found.map_err(|error| format!("cannot find {self}: {error}"))?;
        let mut addresses: Vec<SocketAddr> = Vec::new();
        for address in found.take(8 * ADDRESSES) {
            if addresses.len() < ADDRESSES && !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        if addresses.is_empty() {
            return Err(format!("cannot find {self}: the name has no address"));
        }
        Ok(addresses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_of_both_families_are_places() {
        for text in ["localhost:1", "192.0.2.1:65535", "[::1]:0", "[fe80::1%2]:7"] {
            assert_eq!(place(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn other_texts_are_none() {
        for text in [
            "",
            "localhost",
            "localhost:",
            ":7",
            "a:65536",
            "a:-1",
            "::1:7",
            "[]:7",
            "[::1]",
            "a b:7",
            "a:b:7",
            "[::1:7",
        ] {
            assert!(place(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_address_needs_no_search() {
        let addresses = place("[::1]:7").unwrap().addresses().unwrap();
        assert_eq!(addresses, ["[::1]:7".parse().unwrap()]);
        let error = place("no.such.host.invalid:7").unwrap().addresses();
        let error = error.unwrap_err();
        assert!(
            error.starts_with("cannot find no.such.host.invalid:7: "),
            "{error}"
        );
    }
}
