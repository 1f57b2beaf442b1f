//! Enums: the number of the variant, then the fields of that variant.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::{DataEnum, Error, Result, Variant};

use crate::expand::Parts;
use crate::fields::Fields;
use crate::{attributes, fields};

/// A variant, with its position among the variants, from 0, as its number.
struct Kind<'a> {
    number: u32,
    name: &'a Ident,
    fields: Fields,
}

impl<'a> Kind<'a> {
    fn new((variant, number): (&'a Variant, u32)) -> Result<Self> {
        attributes::none(&variant.attrs, "a variant")?;
        Ok(Self {
            number,
            name: &variant.ident,
            fields: Fields::new(&variant.fields)?,
        })
    }

    fn blank(&self) -> TokenStream {
        let (name, blank) = (self.name, self.fields.blank());
        quote_spanned!(Span::mixed_site()=> Self::#name #blank)
    }

    fn to_number(&self) -> TokenStream {
        let (name, number) = (self.name, self.number);
        quote_spanned!(Span::mixed_site()=> Self::#name { .. } => #number,)
    }

    fn of_number(&self) -> TokenStream {
        let (number, blank) = (self.number, self.blank());
        quote_spanned!(Span::mixed_site()=> #number => #blank,)
    }

    fn serialize(&self) -> TokenStream {
        let (name, pattern, body) = (
            self.name,
            self.fields.pattern(),
            self.fields.body(Some(self.name)),
        );
        quote_spanned!(Span::mixed_site()=> Self::#name #pattern => { #body })
    }
}

pub(crate) fn parts(name: &Ident, data: &DataEnum) -> Result<Parts> {
    let kinds = fields::all(data.variants.iter().zip(0..).map(Kind::new))?;
    let Some(first) = kinds.first() else {
        let what = "an enum without variants has no value that could be sent: give it one";
        return Err(Error::new(name.span(), what));
    };
    let count = first.number + u32::try_from(kinds.len()).unwrap_or(u32::MAX);
    let to_number = kinds.iter().map(Kind::to_number);
    let of_number = kinds.iter().map(Kind::of_number);
    let serialize = kinds.iter().map(Kind::serialize);
    Ok(Parts {
        blank: first.blank(),
        // A reader sets the variant first, with blank fields, so that the fields are there to be read into.
        serialize: quote_spanned! { Span::mixed_site()=>
            let mut __kind: ::core::primitive::u32 = match self {
                #(#to_number)*
            };
            ::porous_message::Stream::kind(__stream, &mut __kind, #count)?;
            if <__S as ::porous_message::Stream>::READS {
                *self = match __kind {
                    #(#of_number)*
                    _ => return ::core::result::Result::Err(::porous_message::Error::OutOfRange),
                };
            }
            match self {
                #(#serialize)*
            }
        },
        needs: kinds.iter().flat_map(|kind| kind.fields.needs()).collect(),
        checks: kinds.iter().flat_map(|kind| kind.fields.checks()).collect(),
    })
}
