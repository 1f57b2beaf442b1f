//! What a type and its attributes mean together, or why they do not fit.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, Expr, Path, Result, Type};

use crate::attributes::{Attributes, Count, Kind, Range, Value, exclusive};
use crate::bounds::Need;
use crate::expand::at;
use crate::fields::{Neighbours, default};
use crate::leaf;
use crate::shape::Shape;

/// How a value is written.
pub(crate) enum Way {
    /// As its type says.
    Plain,
    /// `[u8; N]`: the same bits, but quicker.
    Bytes,
    Ranged(Range),
    Quantized(Range, Expr),
    Bits(Expr),
    Varint,
    /// By this method of a stream, to this field.
    Distance(Ident, Ident),
    /// By this method of a stream, to the item before.
    Chain(Ident),
    With(Path),
    Text(Expr),
    ByteVec(TokenStream),
    List(TokenStream, Box<Form>),
    Array(Box<Form>),
    Option(Box<Form>),
}

/// How a value is written, and what is there before it is read.
pub(crate) struct Form {
    pub(crate) way: Way,
    pub(crate) blank: TokenStream,
    pub(crate) need: Need,
    /// Where its type stands.
    pub(crate) span: Span,
}

/// What holds for a type: the attributes of a field, or those of its items.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    value: Option<&'a Value>,
    count: Option<&'a (Ident, Count)>,
    each: Option<&'a (Ident, Box<Attributes>)>,
}

impl<'a> From<&'a Attributes> for Scope<'a> {
    fn from(attributes: &'a Attributes) -> Self {
        Self {
            value: attributes.value.as_ref(),
            count: attributes.count.as_ref(),
            each: attributes.each.as_ref(),
        }
    }
}

pub(crate) fn resolve(ty: &Type, scope: Scope<'_>, neighbours: Neighbours<'_>) -> Result<Form> {
    if let Some(Value {
        name,
        kind: Kind::With(path),
    }) = scope.value
    {
        scope.only_value(name)?;
        return Ok(Form::foreign(Way::With(path.clone()), ty));
    }
    let shape = Shape::of(ty)?;
    match shape {
        Shape::Option(inner) => {
            let some = resolve(inner, scope, neighbours)?;
            Ok(Form::container(some, Way::Option, ty))
        }
        Shape::Array(inner) => array(ty, inner, scope, neighbours),
        Shape::Vec(inner) => list(ty, inner, scope, neighbours),
        Shape::Text => text(ty, scope),
        Shape::Bool | Shape::Integer { .. } | Shape::Float | Shape::Other => {
            leaf(ty, shape, scope, neighbours)
        }
    }
}

fn array(ty: &Type, inner: &Type, scope: Scope<'_>, neighbours: Neighbours<'_>) -> Result<Form> {
    let item = item(inner, scope, neighbours)?;
    let is_bytes = matches!(item.way, Way::Plain) && is_byte(inner);
    let blank = &item.blank;
    let blank = quote_spanned!(at(ty.span())=> ::core::array::from_fn(|_| #blank));
    let mut form = Form::container(item, Way::Array, ty);
    form.blank = blank;
    if is_bytes {
        form.way = Way::Bytes;
    }
    Ok(form)
}

fn list(ty: &Type, inner: &Type, scope: Scope<'_>, neighbours: Neighbours<'_>) -> Result<Form> {
    let Some((_, count)) = scope.count else {
        let what = "a `Vec` needs a bound: write `#[message(max = n)]` or `#[message(len = a..=b)]` \
                    with how many items there may be, or, for each item of another `Vec`, \
                    `each(max = n)`";
        return Err(Error::new(ty.span(), what));
    };
    let len = match count {
        Count::Max(max) => quote!(0..=#max),
        Count::Len(Range { start, end }) => quote!(#start..=#end),
    };
    let items = match (scope.each, scope.value) {
        (Some((_, each)), None) => (&**each).into(),
        (None, value) => Scope {
            value,
            count: None,
            each: None,
        },
        (Some((each, _)), Some(value)) => {
            let what = format!(
                "`{}` is for each item: write it inside of `{each}`",
                value.name
            );
            return Err(Error::new(value.name.span(), what));
        }
    };
    let item = item(inner, items, neighbours)?;
    let is_bytes = matches!(item.way, Way::Plain) && is_byte(inner);
    let mut form = Form::container(item, |item| Way::List(len.clone(), item), ty);
    if is_bytes {
        form.way = Way::ByteVec(len);
    }
    Ok(form)
}

/// An item of a list or of an array: it may be a distance from the one before.
fn item(ty: &Type, scope: Scope<'_>, neighbours: Neighbours<'_>) -> Result<Form> {
    let shape = Shape::of(ty)?;
    match scope.value {
        Some(Value {
            name,
            kind: Kind::Distance(None),
        }) if shape.may_be_integer() => {
            let method = Ident::new(&name.to_string(), at(name.span()));
            scope.only_value(name)?;
            Ok(Form::leaf(Way::Chain(method), ty))
        }
        _ => resolve(ty, scope, neighbours),
    }
}

fn text(ty: &Type, scope: Scope<'_>) -> Result<Form> {
    if let Some(Value { name, .. }) = scope.value {
        return Err(unfit(name, "numbers: a `String` has `max = n`"));
    }
    if let Some((each, _)) = scope.each {
        return Err(unfit(
            each,
            "the items of a `Vec`: a `String` has `max = n`",
        ));
    }
    match scope.count {
        Some((_, Count::Max(max))) => Ok(Form::foreign(Way::Text(max.clone()), ty)),
        Some((len, Count::Len(_))) => Err(unfit(len, "a `Vec`: a `String` has `max = n`")),
        None => {
            let what = "a `String` needs a bound: write `#[message(max = n)]` with how many bytes it \
                        may have, or, for each item of a `Vec`, `each(max = n)`";
            Err(Error::new(ty.span(), what))
        }
    }
}

fn leaf(ty: &Type, shape: Shape<'_>, scope: Scope<'_>, neighbours: Neighbours<'_>) -> Result<Form> {
    if let Some(name) = scope.of_container() {
        return Err(unfit(name, "what is written as `Vec` or `String`"));
    }
    let way = match scope.value {
        Some(value) => leaf::way(shape, value, neighbours)?,
        None => Way::Plain,
    };
    Ok(Form::leaf(way, ty))
}

/// What an attribute would be for.
pub(crate) fn unfit(name: &Ident, what: &str) -> Error {
    Error::new(name.span(), format!("`{name}` is for {what}"))
}

fn is_byte(ty: &Type) -> bool {
    let shape = Shape::of(ty);
    shape.is_ok_and(|shape| shape.integer() == Some((8, false)))
}

impl<'a> Scope<'a> {
    /// What it says of a container, if anything.
    fn of_container(self) -> Option<&'a Ident> {
        let count = self.count.map(|(name, _)| name);
        count.or_else(|| self.each.map(|(name, _)| name))
    }

    /// Nothing but this: it says all.
    fn only_value(self, value: &Ident) -> Result<()> {
        match self.of_container() {
            Some(name) => Err(exclusive(name, value)),
            None => Ok(()),
        }
    }
}

impl Form {
    fn leaf(way: Way, ty: &Type) -> Self {
        let blank = quote_spanned!(at(ty.span())=> <#ty as ::porous_message::Serialize>::blank());
        Self {
            way,
            blank,
            need: Need::Serialize(ty.clone()),
            span: ty.span(),
        }
    }

    /// Of a type that need not know how to serialize itself.
    fn foreign(way: Way, ty: &Type) -> Self {
        Self {
            way,
            blank: default(ty),
            need: Need::Default(ty.clone()),
            span: ty.span(),
        }
    }

    fn container(item: Self, way: impl FnOnce(Box<Self>) -> Way, ty: &Type) -> Self {
        Self {
            need: item.need.clone(),
            way: way(Box::new(item)),
            blank: default(ty),
            span: ty.span(),
        }
    }
}
