//! Attributes and types that do not fit each other.

use super::{accepts, refuses, refuses_field};

#[test]
fn lists_and_strings_without_a_bound_are_told_how_to_write_one() {
    refuses_field(
        "a: Vec<u8>",
        "Vec<u8>",
        "a `Vec` needs a bound: write `#[message(max = n)]`",
    );
    refuses_field(
        "a: String",
        "String",
        "a `String` needs a bound: write `#[message(max = n)]`",
    );
    refuses_field(
        "a: std::string::String",
        "std::string::String",
        "a `String` needs a bound",
    );
    refuses_field("a: Option<Vec<u8>>", "Vec<u8>", "a `Vec` needs a bound");
    refuses_field("a: [String; 2]", "String", "a `String` needs a bound");
    refuses_field(
        "#[message(max = 2)] a: Vec<String>",
        "String",
        "a `String` needs a bound",
    );
    refuses_field(
        "#[message(max = 2)] a: Vec<Vec<u8>>",
        "Vec<u8>",
        "a `Vec` needs a bound",
    );
    refuses("enum A { B(String) }", "String", "a `String` needs a bound");
    accepts("struct A { #[message(max = 2, each(max = 2))] a: Vec<Option<[String; 2]>> }");
    accepts(
        "struct A { #[message(max = 2, each(len = 1..=2, each(max = 2)))] a: Vec<Vec<Vec<u8>>> }",
    );
    accepts("struct A { a: heapless::Vec<u8, 4>, b: heapless::String<4> }");
}

#[test]
fn ranges_without_a_number_are_refused() {
    refuses_field(
        "#[message(range = 3..=-5)] a: i8",
        "3..=-5",
        "nothing is in this range",
    );
    refuses_field(
        "#[message(len = 2..=1)] a: Vec<u8>",
        "2..=1",
        "nothing is in this range",
    );
    accepts("struct A { #[message(range = 5..=5)] a: u8, #[message(range = LOW..=HIGH)] b: u8 }");
}

#[test]
fn resolutions_that_are_no_steps_are_refused() {
    for resolution in ["0.0", "0", "0.0_f32", "0e10", "-0.5", "-1", "-0.0"] {
        for ty in ["f32", "Option<[f64; 3]>", "Meters"] {
            refuses_field(
                &format!("#[message(range = -1.0..=1.0, resolution = {resolution})] a: {ty}"),
                resolution,
                "steps are more than nothing apart: write a number above 0",
            );
        }
    }
    accepts("struct A { #[message(range = -1.0..=1.0, resolution = 1e-3)] a: f32 }");
    // The macro accepts these; the compiler checks them.
    accepts("struct A { #[message(range = -1.0..=1.0, resolution = STEP - STEP)] a: f32 }");
}

#[test]
fn attributes_of_numbers_are_refused_for_other_types() {
    for other in ["bool", "f32"] {
        for (attribute, name) in [
            ("bits = 3", "bits"),
            ("varint", "varint"),
            ("relative = a", "relative"),
        ] {
            let field = format!("a: u8, #[message({attribute})] b: {other}");
            refuses_field(&field, name, &format!("`{name}` is for integers"));
        }
    }
    refuses_field(
        "#[message(range = 0..=1)] a: bool",
        "range",
        "`range` is for integers",
    );
    refuses_field(
        "#[message(range = 0.0..=1.0)] a: f64",
        "range",
        "a range of floats has steps: add `resolution = r`",
    );
    refuses_field(
        "#[message(range = 0..=1, resolution = 1)] a: u8",
        "1",
        "`resolution` is for floats",
    );
    refuses_field(
        "#[message(resolution = 0.1)] a: f32",
        "resolution",
        "`resolution` belongs to a range",
    );
    refuses_field(
        "#[message(bits = 3)] a: i8",
        "bits",
        "`bits` is for unsigned integers: write `range = a..=b`",
    );
    refuses_field(
        "#[message(bits = 9)] a: u8",
        "9",
        "write a number from 1 to 8",
    );
    refuses_field(
        "#[message(bits = 0)] a: u128",
        "0",
        "write a number from 1 to 128",
    );
    refuses_field(
        "#[message(max = 3, varint)] a: String",
        "varint",
        "`varint` is for numbers: a `String` has `max = n`",
    );
    refuses_field(
        "#[message(max = 3, range = 0..=1)] a: Vec<Option<bool>>",
        "range",
        "`range` is for integers",
    );
    accepts(
        "struct A { #[message(bits = 128)] a: u128, #[message(bits = N)] b: u8, #[message(bits = 3)] c: Alias }",
    );
    accepts(
        "struct A { #[message(range = 0..=1)] a: Alias, #[message(range = 0..=1, resolution = R)] b: Alias }",
    );
}

#[test]
fn attributes_of_lists_are_refused_for_other_types() {
    for ty in ["u8", "[u8; 4]", "Option<bool>", "Names"] {
        refuses_field(
            &format!("#[message(max = 3)] a: {ty}"),
            "max",
            "`max` is for a `Vec` or a `String`",
        );
        refuses_field(
            &format!("#[message(len = 0..=3)] a: {ty}"),
            "len",
            "`len` is for a `Vec` or a `String`",
        );
        refuses_field(
            &format!("#[message(each(varint))] a: {ty}"),
            "each",
            "`each` is for the items of a `Vec`",
        );
    }
    refuses_field(
        "#[message(len = 0..=3)] a: String",
        "len",
        "`len` is for a `Vec`: a `String` has `max = n`",
    );
    refuses_field(
        "#[message(max = 3, each(varint))] a: String",
        "each",
        "`each` is for the items of a `Vec`",
    );
    refuses_field(
        "#[message(max = 3, varint, each(max = 3))] a: Vec<Vec<u8>>",
        "varint",
        "`varint` is for each item",
    );
    for (attribute, name) in [("align", "align"), ("check = 1", "check"), ("skip", "skip")] {
        let field = format!("#[message(max = 3, each({attribute}))] a: Vec<u8>");
        refuses_field(&field, name, &format!("`{name}` is for a whole field"));
    }
}

#[test]
fn distances_are_from_an_earlier_integer_that_is_sent() {
    refuses_field(
        "#[message(relative = b)] a: u8, b: u8",
        "b",
        "`b` is not there yet: put it before",
    );
    refuses_field("#[message(delta = a)] a: u8", "a", "`a` is not there yet");
    refuses_field(
        "#[message(delta = x)] a: u8",
        "x",
        "there is no field `x` here",
    );
    refuses_field(
        "b: u16, #[message(delta = b)] a: u8",
        "b",
        "`b` is not an integer of the same type",
    );
    refuses_field(
        "b: bool, #[message(delta = b)] a: u8",
        "b",
        "`b` is not an integer of the same type",
    );
    refuses_field(
        "#[message(skip)] b: u8, #[message(delta = b)] a: u8",
        "b",
        "`b` is not sent",
    );
    refuses_field(
        "#[message(delta)] a: u8",
        "delta",
        "write `delta = field` with an earlier field",
    );
    refuses_field(
        "#[message(max = 2, relative)] a: Vec<Option<u8>>",
        "relative",
        "write `relative = field`",
    );
    refuses(
        "struct A(#[message(relative = 1)] u8, u8);",
        "1",
        "`1` is not there yet",
    );
    refuses(
        "enum A { B { x: u8 }, C { #[message(delta = x)] y: u8 } }",
        "x",
        "there is no field `x` here",
    );
    accepts("struct A(u8, #[message(relative = 0)] u8);");
    accepts(
        "struct A { b: Alias, #[message(relative = b)] a: u8, #[message(delta = a)] c: Alias }",
    );
    accepts("struct A { b: u8, #[message(max = 2, relative = b)] a: Vec<Option<u8>> }");
    accepts(
        "struct A { #[message(max = 2, relative)] a: Vec<Alias>, #[message(delta)] b: [[i8; 2]; 2] }",
    );
}

#[test]
fn types_that_cannot_be_sent_are_refused() {
    refuses(
        "enum A {}",
        "A",
        "an enum without variants has no value that could be sent",
    );
    refuses(
        "enum A { B(Box<A>), C([Self; 2], u8), D { d: Box<Option<u8>>, e: Box<Self> } }",
        "A",
        "each variant has another value of this enum in it",
    );
    refuses(
        "union A { a: u8 }",
        "union",
        "a union does not tell which of its fields holds",
    );
    refuses_field(
        "a: usize",
        "usize",
        "`usize` is not as wide on every machine",
    );
    refuses_field(
        "#[message(varint)] a: Option<isize>",
        "isize",
        "`isize` is not as wide on every machine",
    );
    refuses_field(
        "a: &'static str",
        "&'static str",
        "this cannot be read: a message owns its values",
    );
    accepts("struct A { #[message(skip)] a: usize, #[message(with = f)] b: &'static str }");
    accepts("struct A { #[message(max = 1, each(with = f))] a: Vec<usize> }");
}
