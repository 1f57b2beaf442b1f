//! The meaning of a type and its attributes together, or the reason why they do not fit each other.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, Path, Result, Type};

use crate::attributes::{Attributes, Count, Kind, Value, exclusive};
use crate::bounds::Need;
use crate::expand::at;
use crate::fields::{Neighbours, default};
use crate::leaf::Leaf;
use crate::range::{Number, Range};
use crate::shape::Shape;

/// The way in which a value is written.
pub(crate) enum Way {
    /// By the type's own `Serialize`.
    Plain,
    /// `[u8; N]`: the same bits as item by item, but quicker.
    Bytes,
    Ranged(TokenStream),
    Quantized {
        range: Range,
        resolution: Number,
        /// Assertions that the compiler evaluates.
        check: Option<TokenStream>,
    },
    Bits(TokenStream),
    Varint,
    /// By a method of a stream, the first name: the distance from a field, the second name.
    Distance(Ident, Ident),
    /// By a method of a stream: the distance from the item before.
    Chain(Ident),
    With(Path),
    Text(Number),
    ByteVec(TokenStream),
    List(TokenStream, Box<Form>),
    Array(Box<Form>),
    Option(Box<Form>),
}

/// How a value is written, and the blank value that it is read into.
pub(crate) struct Form {
    pub(crate) way: Way,
    pub(crate) blank: TokenStream,
    pub(crate) need: Need,
    /// The place of the type in the source.
    pub(crate) span: Span,
}

/// The attributes that apply to a type: those of a field, or those of the items of a field.
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
    let value = scope.value.map(|value| (&value.name, &value.kind));
    // Before the shape: a function may serialize a type that has no other form.
    if let Some((name, Kind::With(path))) = value {
        scope.only_value(name)?;
        return Ok(Form::foreign(Way::With(path.clone()), ty));
    }
    let shape = Shape::of(ty)?;
    match shape {
        Shape::Option(inner) => {
            // An attribute goes through options and arrays to the value inside, so the scope stays.
            let some = resolve(inner, scope, neighbours)?;
            Ok(Form::container(some, Way::Option, ty))
        }
        Shape::Array(inner) => array(ty, inner, scope, neighbours),
        Shape::Vec(inner) => list(ty, inner, scope, neighbours),
        Shape::Text => text(ty, scope),
        Shape::Bool | Shape::Integer { .. } | Shape::Float | Shape::Other => {
            leaf(Leaf { ty, shape }, scope, neighbours)
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
        // The same bits as item by item, but a whole slice is quicker.
        form.way = Way::Bytes;
    }
    Ok(form)
}

fn list(ty: &Type, inner: &Type, scope: Scope<'_>, neighbours: Neighbours<'_>) -> Result<Form> {
    let Some((_, count)) = scope.count else {
        let what = "a `Vec` needs a bound: write `#[message(max = n)]` or `#[message(len = a..=b)]` \
                    for the number of items, or, for each item of another `Vec`, \
                    `each(max = n)`";
        return Err(Error::new(ty.span(), what));
    };
    let len = match count {
        Count::Max(max) => quote!(0..=#max),
        Count::Len(len) => quote!(#len),
    };
    // An attribute of numbers goes through to the items. Bounds do not: they are those of this list.
    let items = match (scope.each, scope.value) {
        (Some((_, each)), None) => (&**each).into(),
        (None, value) => Scope::of_value(value),
        (Some((each, _)), Some(Value { name, .. })) => {
            let what = format!("`{name}` is for each item: write it inside of `{each}`");
            return Err(Error::new(name.span(), what));
        }
    };
    let item = item(inner, items, neighbours)?;
    let is_bytes = matches!(item.way, Way::Plain) && is_byte(inner);
    let mut form = Form::container(item, |item| Way::List(len.clone(), item), ty);
    if is_bytes {
        // The same bits as item by item, but a whole slice is quicker.
        form.way = Way::ByteVec(len);
    }
    Ok(form)
}

/// The form of an item of a list or of an array, which may be a distance from the item before.
fn item(ty: &Type, scope: Scope<'_>, neighbours: Neighbours<'_>) -> Result<Form> {
    let distance = scope.value.filter(|value| value.is_from_before());
    let Some(Value { name, .. }) = distance.filter(|_| may_be_integer(ty)) else {
        return resolve(ty, scope, neighbours);
    };
    scope.only_value(name)?;
    let method = Ident::new(&name.to_string(), at(name.span()));
    Ok(Form::leaf(Way::Chain(method), ty))
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
            let what = "a `String` needs a bound: write `#[message(max = n)]` for at most `n` \
                        bytes, or, for each item of a `Vec`, `each(max = n)`";
            Err(Error::new(ty.span(), what))
        }
    }
}

fn leaf(leaf: Leaf<'_>, scope: Scope<'_>, neighbours: Neighbours<'_>) -> Result<Form> {
    if let Some((name, _)) = scope.each {
        return Err(unfit(name, "the items of a `Vec`, written as such"));
    }
    if let Some((name, _)) = scope.count {
        return Err(unfit(name, "a `Vec` or a `String`, written as such"));
    }
    let way = match scope.value {
        Some(value) => leaf.way(value, neighbours)?,
        None => Way::Plain,
    };
    Ok(Form::leaf(way, leaf.ty))
}

/// The error for an attribute that does not fit: it says for what types the attribute is.
pub(crate) fn unfit(name: &Ident, what: &str) -> Error {
    Error::new(name.span(), format!("`{name}` is for {what}"))
}

fn may_be_integer(ty: &Type) -> bool {
    Shape::of(ty).is_ok_and(Shape::may_be_integer)
}

fn is_byte(ty: &Type) -> bool {
    let shape = Shape::of(ty);
    shape.is_ok_and(|shape| shape.integer() == Some((8, false)))
}

impl<'a> Scope<'a> {
    fn of_value(value: Option<&'a Value>) -> Self {
        Self {
            value,
            count: None,
            each: None,
        }
    }

    /// Refuses all attributes beside `value`, which says everything.
    fn only_value(self, value: &Ident) -> Result<()> {
        let count = self.count.map(|(name, _)| name);
        match count.or_else(|| self.each.map(|(name, _)| name)) {
            Some(name) => Err(exclusive(name, value)),
            None => Ok(()),
        }
    }
}

impl Form {
    /// The assertion that the compiler evaluates, of this form or of a form inside.
    pub(crate) fn check(&self) -> Option<&TokenStream> {
        match &self.way {
            Way::Quantized { check, .. } => check.as_ref(),
            Way::List(_, item) | Way::Array(item) | Way::Option(item) => item.check(),
            Way::Plain
            | Way::Bytes
            | Way::Ranged(_)
            | Way::Bits(_)
            | Way::Varint
            | Way::Distance(..)
            | Way::Chain(_)
            | Way::With(_)
            | Way::Text(_)
            | Way::ByteVec(_) => None,
        }
    }

    fn leaf(way: Way, ty: &Type) -> Self {
        let blank = quote_spanned!(at(ty.span())=> <#ty as ::porous_message::Serialize>::blank());
        Self {
            way,
            blank,
            need: Need::Serialize(ty.clone()),
            span: ty.span(),
        }
    }

    /// The form of a type that need not be `Serialize`.
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
