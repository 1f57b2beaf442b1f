//! The attributes in the parentheses, and other forms of `message`.

use super::{accepts, errors, refuses, refuses_field};

#[test]
fn attributes_that_there_are_not_are_refused_with_those_that_there_are() {
    refuses_field(
        "#[message(rnge = 0..=1)] a: u8",
        "rnge",
        "unknown attribute `rnge`: there are `range`, ",
    );
    refuses_field(
        "#[message(max = 2, each(size = 2))] a: Vec<u8>",
        "size",
        "unknown attribute `size`",
    );
    refuses_field(
        "#[message] a: u8",
        "message",
        "expected attribute arguments in parentheses",
    );
    refuses_field("#[message(varint = 3)] a: u8", "=", "expected `,`");
}

#[test]
fn attributes_without_their_argument_are_told_how_to_write_it() {
    refuses_field("#[message(range)] a: u8", "range", "write `range = a..=b`");
    refuses_field(
        "#[message(range = 0..9)] a: u8",
        "0",
        "write `range = a..=b`: both ends",
    );
    refuses_field("#[message(range = 9)] a: u8", "9", "write `range = a..=b`");
    refuses_field(
        "#[message(range = ..=9)] a: u8",
        ".",
        "write `range = a..=b` with numbers",
    );
    refuses_field(
        "#[message(range = 0..=1, resolution)] a: f32",
        "resolution",
        "write `resolution = r`",
    );
    refuses_field("#[message(bits)] a: u8", "bits", "write `bits = n`");
    refuses_field("#[message(max)] a: String", "max", "write `max = n`");
    refuses_field("#[message(len)] a: Vec<u8>", "len", "write `len = a..=b`");
    refuses_field("#[message(len = 3)] a: Vec<u8>", "3", "write `len = a..=b`");
    refuses_field(
        "#[message(max = 1, each)] a: Vec<u8>",
        "each",
        "write `each(...)`",
    );
    refuses_field(
        "#[message(check)] a: u8",
        "check",
        "write `check = 0x12345678`",
    );
    refuses_field("#[message(with)] a: u8", "with", "write `with = function`");
    refuses_field(
        "a: u8, #[message(relative = (a))] b: u8",
        "(",
        "write `relative = field`",
    );
}

#[test]
fn what_excludes_each_other_is_refused() {
    refuses_field(
        "#[message(range = 0..=1, bits = 1)] a: u8",
        "bits",
        "`bits` and `range` exclude each other",
    );
    refuses_field(
        "#[message(varint)] #[message(with = f)] a: u8",
        "with",
        "`with` and `varint` exclude each other",
    );
    refuses_field(
        "a: u8, #[message(relative = a, delta = a)] b: u8",
        "delta",
        "`delta` and `relative` exclude each other",
    );
    refuses_field(
        "#[message(max = 1, len = 0..=1)] a: Vec<u8>",
        "len",
        "`len` and `max` exclude each other",
    );
    refuses_field(
        "#[message(max = 1, with = f)] a: String",
        "max",
        "`max` and `with` exclude each other",
    );
    refuses_field(
        "#[message(with = f, each(max = 1))] a: Vec<String>",
        "each",
        "`each` and `with` exclude each other",
    );
    refuses_field(
        "#[message(skip, range = 0..=1)] a: u8",
        "range",
        "`range` says how a field is sent, and `skip`",
    );
    for (attribute, name) in [
        ("align", "align"),
        ("check = 1", "check"),
        ("max = 1", "max"),
    ] {
        let field = format!("#[message({attribute}, skip)] a: String");
        refuses_field(&field, name, &format!("`{name}` says how a field is sent"));
    }
}

#[test]
fn what_is_there_twice_is_refused() {
    for attribute in [
        "range = 0..=1",
        "bits = 1",
        "varint",
        "delta",
        "with = f",
        "resolution = 1",
        "max = 1",
        "len = 1..=1",
        "each(varint)",
        "align",
        "check = 1",
        "skip",
    ] {
        let name: String = attribute
            .chars()
            .take_while(|c| c.is_alphabetic())
            .collect();
        let field = format!("#[message({attribute}, {attribute})] a: u8");
        refuses_field(&field, &name, &format!("`{name}` is here twice"));
    }
}

#[test]
fn attributes_that_stand_at_no_field_are_refused() {
    refuses(
        "#[message(skip)] struct A;",
        "#[message(skip)]",
        "`message` belongs to a field, not to the type",
    );
    refuses(
        "enum A { #[message(skip)] B }",
        "#[message(skip)]",
        "`message` belongs to a field, not to a variant",
    );
    accepts("#[derive(Debug)] #[doc = \"\"] struct A { #[doc = \"\"] a: u8 }");
}

#[test]
fn all_fields_that_are_wrong_are_told_at_once() {
    let found = errors("enum A { B { a: String, b: u8, c: Vec<u8> }, C(usize) }");
    let pointed: Vec<&str> = found.iter().map(|(_, pointed)| pointed.as_str()).collect();
    assert_eq!(pointed, ["String", "Vec<u8>", "usize"]);
}
