//! attackers
