//! `#[derive(Message)]`: the crate `porous-message` exports it, and says what it does.

mod attributes;
mod bounds;
mod emit;
mod enums;
mod expand;
mod fields;
mod form;
mod leaf;
mod shape;
mod structs;

use proc_macro::TokenStream;

/// Implements `porous_message::Serialize`.
#[proc_macro_derive(Message, attributes(message))]
pub fn derive_message(input: TokenStream) -> TokenStream {
    syn::parse(input)
        .and_then(|input| expand::message(&input))
        .unwrap_or_else(|error| error.into_compile_error())
        .into()
}
