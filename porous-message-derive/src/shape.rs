//! The shape of a type, as its name tells. A macro cannot know what an alias stands for.

use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::{Error, GenericArgument, PathArguments, Result, Type};

/// The part of a type that decides which attributes fit.
#[derive(Clone, Copy)]
pub(crate) enum Shape<'t> {
    Bool,
    Integer {
        bits: u32,
        is_signed: bool,
    },
    Float,
    Text,
    Vec(&'t Type),
    Option(&'t Type),
    Array(&'t Type),
    /// Another type, or a type under an alias.
    Other,
}

impl<'t> Shape<'t> {
    pub(crate) fn of(ty: &'t Type) -> Result<Self> {
        let ty = bare(ty);
        if let Type::Array(array) = ty {
            return Ok(Self::Array(&array.elem));
        }
        if matches!(ty, Type::Reference(_) | Type::Ptr(_) | Type::Slice(_)) {
            return Err(Error::new(
                ty.span(),
                "this cannot be read: a message owns its values",
            ));
        }
        let Some((name, argument)) = last(ty) else {
            return Ok(Self::Other);
        };
        Self::named(name, argument)
    }

    fn named(name: &Ident, argument: Argument<'t>) -> Result<Self> {
        match argument {
            Argument::None => Self::primitive(name),
            Argument::One(ty) if name == "Vec" => Ok(Self::Vec(ty)),
            Argument::One(ty) if name == "Option" => Ok(Self::Option(ty)),
            // A generic type of another name has to implement `Serialize` itself.
            Argument::One(_) | Argument::Many => Ok(Self::Other),
        }
    }

    fn primitive(name: &Ident) -> Result<Self> {
        let name_text = name.to_string();
        Ok(match name_text.as_str() {
            "bool" => Self::Bool,
            "f32" | "f64" => Self::Float,
            "String" => Self::Text,
            "usize" | "isize" => {
                let what = format!("`{name}` is not as wide on every machine: use one that is");
                return Err(Error::new(name.span(), what));
            }
            "u8" | "u16" | "u32" | "u64" | "u128" => Self::of_integer(&name_text[1..], false),
            "i8" | "i16" | "i32" | "i64" | "i128" => Self::of_integer(&name_text[1..], true),
            _ => Self::Other,
        })
    }

    fn of_integer(bits: &str, is_signed: bool) -> Self {
        let bits = bits.parse().unwrap_or(u128::BITS);
        Self::Integer { bits, is_signed }
    }

    /// The width of an integer in bits, and true if it is signed; `None` for other types.
    pub(crate) fn integer(self) -> Option<(u32, bool)> {
        match self {
            Self::Integer { bits, is_signed } => Some((bits, is_signed)),
            Self::Bool
            | Self::Float
            | Self::Text
            | Self::Vec(_)
            | Self::Option(_)
            | Self::Array(_)
            | Self::Other => None,
        }
    }

    /// True if the type is an integer, or may be one under an alias, which the compiler checks.
    pub(crate) fn may_be_integer(self) -> bool {
        self.integer().is_some() || matches!(self, Self::Other)
    }
}

/// The arguments in the angle brackets of a type.
#[derive(Clone, Copy)]
enum Argument<'t> {
    None,
    One(&'t Type),
    Many,
}

/// The last name of a path, with its arguments.
fn last(ty: &Type) -> Option<(&Ident, Argument<'_>)> {
    let Type::Path(path) = ty else {
        return None;
    };
    let last = path.path.segments.last()?;
    let argument = match &last.arguments {
        PathArguments::None => Argument::None,
        PathArguments::AngleBracketed(list) => match list.args.first() {
            Some(GenericArgument::Type(ty)) if list.args.len() == 1 => Argument::One(ty),
            _ => Argument::Many,
        },
        PathArguments::Parenthesized(_) => Argument::Many,
    };
    Some((&last.ident, argument))
}

/// The type without the group or the parentheses around it.
fn bare(ty: &Type) -> &Type {
    if let Type::Group(group) = ty {
        return bare(&group.elem);
    }
    if let Type::Paren(paren) = ty {
        return bare(&paren.elem);
    }
    ty
}
