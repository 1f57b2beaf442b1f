//! Structs: one field after the other.

use proc_macro2::Span;
use quote::{quote, quote_spanned};
use syn::{DataStruct, Result};

use crate::expand::Parts;
use crate::fields::Fields;

pub(crate) fn parts(data: &DataStruct) -> Result<Parts> {
    let fields = Fields::new(&data.fields)?;
    let (blank, pattern, body) = (fields.blank(), fields.pattern(), fields.body(None));
    Ok(Parts {
        blank: quote!(Self #blank),
        serialize: quote_spanned! { Span::mixed_site()=>
            let Self #pattern = self;
            #body
        },
        needs: fields.needs(),
        checks: fields.checks(),
    })
}
