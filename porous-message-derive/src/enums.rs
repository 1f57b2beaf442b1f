//! Enums: the number of the variant, then the fields of that variant.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::{DataEnum, Error, GenericArgument, PathArguments, Result, Type, Variant};

use crate::expand::Parts;
use crate::fields::Fields;
use crate::{attributes, fields};

/// A variant, with its position among the variants, from 0, as its number.
struct Kind<'a> {
    number: u32,
    name: &'a Ident,
    fields: Fields,
    /// True if each of its values has another value of the enum in it.
    has_itself: bool,
}

impl<'a> Kind<'a> {
    fn new(own: &Ident, (variant, number): (&'a Variant, u32)) -> Result<Self> {
        attributes::none(&variant.attrs, "a variant")?;
        Ok(Self {
            number,
            name: &variant.ident,
            fields: Fields::new(&variant.fields)?,
            has_itself: variant.fields.iter().any(|field| has(&field.ty, own)),
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
    let numbered = data.variants.iter().zip(0..);
    let kinds = fields::all(numbered.map(|variant| Kind::new(name, variant)))?;
    // A blank value of the enum within a blank value of the enum would have no end.
    let Some(blank) = kinds.iter().find(|kind| !kind.has_itself) else {
        let what = if kinds.is_empty() {
            "an enum without variants has no value that could be sent: give it one"
        } else {
            "each variant has another value of this enum in it, so that no value has an end: give it a variant without \
             one"
        };
        return Err(Error::new(name.span(), what));
    };
    let count = u32::try_from(kinds.len()).unwrap_or(u32::MAX);
    let to_number = kinds.iter().map(Kind::to_number);
    let of_number = kinds.iter().map(Kind::of_number);
    let serialize = kinds.iter().map(Kind::serialize);
    Ok(Parts {
        blank: blank.blank(),
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

/// True if each value of the type has a value of the enum `own` in it, as a box has: a list may be empty, and an option
/// nothing.
fn has(ty: &Type, own: &Ident) -> bool {
    if let Type::Array(array) = ty {
        return has(&array.elem, own);
    }
    let Type::Path(path) = ty else {
        return false;
    };
    let Some(last) = path.path.segments.last() else {
        return false;
    };
    if last.ident == *own || last.ident == "Self" {
        return true;
    }
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return false;
    };
    let may_be_empty = last.ident == "Vec" || last.ident == "Option";
    let within =
        |argument: &GenericArgument| matches!(argument, GenericArgument::Type(ty) if has(ty, own));
    !may_be_empty && arguments.args.iter().any(within)
}
