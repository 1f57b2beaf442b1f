//! Code from forms.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;

use crate::expand::at;
use crate::form::{Form, Way};

/// The code that serializes the value with this name: an expression of type `Result`.
pub(crate) fn emit(form: &Form, value: &Ident) -> TokenStream {
    let span = at(form.span);
    let stream = quote_spanned!(span=> ::porous_message::Stream);
    let support = quote_spanned!(span=> ::porous_message::__derive);
    match &form.way {
        Way::Plain => {
            quote_spanned!(span=> ::porous_message::Serialize::serialize(#value, __stream))
        }
        Way::Bytes => quote_spanned!(span=> #stream::bytes(__stream, #value)),
        Way::Ranged(range) => {
            quote_spanned!(span=> #stream::ranged(__stream, #value, #range))
        }
        Way::Quantized {
            range,
            resolution,
            check,
        } => {
            let check = check
                .as_ref()
                .map(|check| quote_spanned!(span=> const { #check }));
            quote_spanned! { span=> {
                #check
                #stream::quantized(__stream, #value, #range, #resolution)
            }}
        }
        Way::Bits(bits) => quote_spanned!(span=> #support::bits(__stream, #value, #bits)),
        Way::Varint => quote_spanned!(span=> #stream::varint(__stream, #value)),
        Way::Distance(method, base) => {
            quote_spanned!(span=> #stream::#method(__stream, #value, *#base))
        }
        Way::Chain(method) => quote_spanned! { span=>
            #support::chain(__stream, #value, &mut __last, #stream::#method)
        },
        Way::With(path) => quote_spanned!(span=> #path(#value, __stream)),
        Way::Text(max) => quote_spanned!(span=> #stream::string(__stream, #value, #max)),
        Way::ByteVec(len) => quote_spanned!(span=> #stream::byte_vec(__stream, #value, #len)),
        Way::List(len, item) => {
            let blank = &item.blank;
            let (last, item) = of_item(item);
            quote_spanned! { span=> {
                #last
                #support::list(__stream, #value, #len, || #blank, |__item, __stream| #item)
            }}
        }
        Way::Array(item) => {
            let (last, item) = of_item(item);
            quote_spanned! { span=> {
                #last
                for (__number, __item) in ::core::iter::Iterator::enumerate(::core::iter::IntoIterator::into_iter(#value)) {
                    #stream::item(__stream, __number, |__stream| #item)?;
                }
                ::core::result::Result::Ok::<(), ::porous_message::Error>(())
            }}
        }
        Way::Option(some) => {
            let blank = &some.blank;
            let (_, some) = of_item(some);
            quote_spanned! { span=>
                #support::option(__stream, #value, || #blank, |__item, __stream| #some)
            }
        }
    }
}

/// The code that declares the item before, if the form needs it, and the code that serializes an item.
fn of_item(form: &Form) -> (Option<TokenStream>, TokenStream) {
    let last = matches!(form.way, Way::Chain(_))
        .then(|| quote_spanned!(at(form.span)=> let mut __last = ::core::option::Option::None;));
    (last, emit(form, &Ident::new("__item", Span::mixed_site())))
}
