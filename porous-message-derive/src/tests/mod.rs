//! Types that are refused: the message of each error, and where the compiler points.

mod fit;
mod syntax;

use crate::expand::message;

/// Each error of this type: its message, and the source that it points at.
#[track_caller]
fn errors(source: &str) -> Vec<(String, String)> {
    let input = syn::parse_str(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    let Err(error) = message(&input) else {
        panic!("accepted: {source}");
    };
    let each = error.into_iter().map(|error| {
        let pointed = error.span().source_text().unwrap_or_default();
        (error.to_string(), pointed)
    });
    each.collect()
}

/// Expects one error, whose message begins with `beginning`, at this source.
#[track_caller]
fn refuses(source: &str, at: &str, beginning: &str) {
    let errors = errors(source);
    let [(said, pointed)] = &errors[..] else {
        panic!("{source}: {errors:?}");
    };
    assert!(said.starts_with(beginning), "{source}: {said}");
    assert_eq!(pointed, at, "{source}: {said}");
}

/// As [`refuses`], for the last field of a struct.
#[track_caller]
fn refuses_field(field: &str, at: &str, beginning: &str) {
    refuses(&format!("struct A {{ {field} }}"), at, beginning);
}

#[track_caller]
fn accepts(source: &str) {
    let input = syn::parse_str(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    if let Err(error) = message(&input) {
        panic!("{source}: {error}");
    }
}
