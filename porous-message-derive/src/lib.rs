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

// Its examples are run with those of porous-tests, which compiles porous-message anyway: what a macro is tested with
// is compiled for the machine that compiles, once more.
#[cfg_attr(not(doctest), doc = include_str!("message.md"))]
#[proc_macro_derive(Message, attributes(message))]
pub fn derive_message(input: TokenStream) -> TokenStream {
    syn::parse(input)
        .and_then(|input| expand::message(&input))
        .unwrap_or_else(|error| error.into_compile_error())
        .into()
}
