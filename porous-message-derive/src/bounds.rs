//! The bounds on type parameters that the fields need.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Generics, Type, parse_quote};

/// A type, and the trait that it has to implement.
#[derive(Clone)]
pub(crate) enum Need {
    Serialize(Type),
    Default(Type),
}

/// The parameters and the bounds of the type, with the bounds that the fields need.
pub(crate) fn with(generics: &Generics, needs: &[Need]) -> Generics {
    let mut all = generics.clone();
    let parameters = generics.type_params().map(|parameter| &parameter.ident);
    for parameter in parameters {
        let mentions = |ty: &Type| mentions(ty.to_token_stream(), parameter);
        let bounds = &mut all.make_where_clause().predicates;
        let mut is_serialized = false;
        for need in needs {
            match need {
                Need::Default(ty) if mentions(ty) => {
                    bounds.push(parse_quote!(#ty: ::core::default::Default));
                }
                // `T: Serialize` says nothing of `T::Item`, nor of what is made of it: they need bounds of their own.
                Need::Serialize(ty) if mentions(ty) && is_projected(ty, parameter) => {
                    bounds.push(parse_quote!(#ty: ::porous_message::Serialize));
                }
                Need::Serialize(ty) => is_serialized |= mentions(ty),
                Need::Default(_) => {}
            }
        }
        // A bound on the parameter, not on the field's type: that may be the very type that is
        // derived, and the bound would then require itself.
        if is_serialized {
            bounds.push(parse_quote!(#parameter: ::porous_message::Serialize));
        }
    }
    all
}

/// True if the tokens mention no parameter of the implementation.
pub(crate) fn is_free(tokens: &TokenStream, generics: &Generics) -> bool {
    let types = generics.type_params().map(|parameter| &parameter.ident);
    let constants = generics.const_params().map(|parameter| &parameter.ident);
    // `Self` stands for a type that may have parameters.
    let own = Ident::new("Self", Span::call_site());
    let mut names = types.chain(constants).chain([&own]);
    !names.any(|name| mentions(tokens.clone(), name))
}

fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// True for `<T as Trait>::Item`, and for types in which the parameter stands only as in `T::Item`.
fn is_projected(ty: &Type, parameter: &Ident) -> bool {
    let is_qualified = matches!(ty, Type::Path(path) if path.qself.is_some());
    is_qualified || is_everywhere_projected(ty.to_token_stream(), parameter)
}

fn is_everywhere_projected(tokens: TokenStream, parameter: &Ident) -> bool {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_fine = match token {
            TokenTree::Ident(ident) if ident == *parameter => match tokens.peek() {
                Some(TokenTree::Punct(next)) => next.as_char() == ':',
                Some(TokenTree::Ident(next)) => next == "as",
                Some(TokenTree::Group(_) | TokenTree::Literal(_)) | None => false,
            },
            TokenTree::Group(group) => is_everywhere_projected(group.stream(), parameter),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => true,
        };
        if !is_fine {
            return false;
        }
    }
    true
}
