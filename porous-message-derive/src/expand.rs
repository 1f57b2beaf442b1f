//! The implementation of `Serialize` for a type.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{Data, DeriveInput, Error, Result};

use crate::{attributes, bounds, enums, structs};

/// The parts of an implementation: the bodies of its two functions, the bounds that its fields need, and
/// assertions.
pub(crate) struct Parts {
    pub(crate) blank: TokenStream,
    pub(crate) serialize: TokenStream,
    pub(crate) needs: Vec<bounds::Need>,
    /// Assertions on the fields that the compiler evaluates.
    pub(crate) checks: Vec<TokenStream>,
}

/// The same place in the source, but hygienic: names cannot clash with names of the source.
pub(crate) fn at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

pub(crate) fn message(input: &DeriveInput) -> Result<TokenStream> {
    attributes::none(&input.attrs, "the type")?;
    let parts = match &input.data {
        Data::Struct(data) => structs::parts(data)?,
        Data::Enum(data) => enums::parts(&input.ident, data)?,
        Data::Union(data) => {
            let what = "a union does not tell which of its fields holds: use an enum";
            return Err(Error::new(data.union_token.span, what));
        }
    };
    let name = &input.ident;
    let generics = bounds::with(&input.generics, &parts.needs);
    let (implemented, arguments, bounds) = generics.split_for_impl();
    let (blank, serialize) = (&parts.blank, &parts.serialize);
    // As constants beside the implementation, because the compiler evaluates an assertion inside of a
    // function only when the function is used. A constant cannot name parameters or `Self`, so
    // assertions that do stay inside alone.
    let checks = parts.checks.iter();
    let checks = checks.filter(|check| bounds::is_free(check, &input.generics));
    Ok(quote_spanned! { Span::mixed_site()=>
        #(const _: () = { #checks };)*

        #[automatically_derived]
        impl #implemented ::porous_message::Serialize for #name #arguments #bounds {
            #[inline]
            fn blank() -> Self {
                #blank
            }

            #[inline]
            fn serialize<__S: ::porous_message::Stream>(
                &mut self,
                __stream: &mut __S,
            ) -> ::core::result::Result<(), ::porous_message::Error> {
                #serialize
                ::core::result::Result::Ok(())
            }
        }
    })
}
