//! Values that are no containers, and the attributes that fit their types.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Error, Result, Type};

use crate::attributes::{Kind, Value};
use crate::expand::at;
use crate::fields::Neighbours;
use crate::form::{Way, unfit};
use crate::range::{Number, Range};
use crate::shape::Shape;

/// A type that is no container, and its shape.
#[derive(Clone, Copy)]
pub(crate) struct Leaf<'t> {
    pub(crate) ty: &'t Type,
    pub(crate) shape: Shape<'t>,
}

impl Leaf<'_> {
    pub(crate) fn way(self, value: &Value, neighbours: Neighbours<'_>) -> Result<Way> {
        let name = &value.name;
        match &value.kind {
            Kind::With(path) => Ok(Way::With(path.clone())),
            Kind::Quantized(range, resolution) => self.quantized(range, resolution),
            // Without steps, a range would not save any bits of a float.
            Kind::Range(_) if matches!(self.shape, Shape::Float) => {
                let what = "a range of floats has steps: add `resolution = r`";
                Err(Error::new(name.span(), what))
            }
            _ if !self.shape.may_be_integer() => Err(unfit(name, "integers")),
            Kind::Range(range) => Ok(Way::Ranged(match self.shape.integer() {
                // Only of a type that is surely an integer can the compiler be told to compare the ends.
                Some(_) => range.of_integers(self.ty),
                None => range.to_token_stream(),
            })),
            Kind::Bits(bits) => self.bits(name, bits),
            Kind::Varint => Ok(Way::Varint),
            Kind::Distance(Some(base)) => {
                let method = Ident::new(&name.to_string(), at(name.span()));
                let base = neighbours.base(base, self.shape)?;
                Ok(Way::Distance(method, base))
            }
            Kind::Distance(None) => {
                let what = format!(
                    "write `{name} = field` with an earlier field: \
                     only items of a `Vec` or an array have one before"
                );
                Err(Error::new(name.span(), what))
            }
        }
    }

    fn quantized(self, range: &Range, resolution: &Number) -> Result<Way> {
        let check = if matches!(self.shape, Shape::Float) {
            Some(range.has_steps(resolution, self.ty))
        } else if matches!(self.shape, Shape::Other) {
            None
        } else {
            let what = "`resolution` is for floats: an integer takes each number of its range";
            return Err(Error::new_spanned(resolution, what));
        };
        resolution.check_resolution()?;
        Ok(Way::Quantized {
            range: range.clone(),
            resolution: resolution.clone(),
            check,
        })
    }

    fn bits(self, name: &Ident, bits: &Number) -> Result<Way> {
        let Some((width, is_signed)) = self.shape.integer() else {
            return Ok(Way::Bits(bits.to_token_stream()));
        };
        if is_signed {
            return Err(unfit(name, "unsigned integers: write `range = a..=b`"));
        }
        if bits
            .literal
            .is_some_and(|number| !(1..=width.into()).contains(&number))
        {
            let what = format!("write a number from 1 to {width}, the bits of the type");
            return Err(Error::new_spanned(bits, what));
        }
        Ok(Way::Bits(bits.of_bits(self.ty)))
    }
}
