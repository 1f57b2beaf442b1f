//! What the scenario tests share.
