//! `#[derive(Message)]`: the crate `porous-message` exports it, with the trait that it implements.
#![doc(test(attr(deny(warnings))))]

mod attributes;
mod bounds;
mod emit;
mod enums;
mod expand;
mod fields;
mod form;
mod leaf;
mod range;
mod shape;
mod structs;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

// The examples are run with those of porous-tests. If this crate's tests needed porous-message, cargo would compile it
// and the core a second time, as parts of the compiler.
#[cfg_attr(not(doctest), doc = include_str!("message.md"))]
#[proc_macro_derive(Message, attributes(message))]
pub fn derive_message(input: TokenStream) -> TokenStream {
    syn::parse(input)
        .and_then(|input| expand::message(&input))
        .unwrap_or_else(|error| error.into_compile_error())
        .into()
}
