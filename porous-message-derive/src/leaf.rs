//! Values that are no containers: which attribute fits which type.

use proc_macro2::Ident;
use syn::{Error, Expr, ExprLit, Lit, Result, UnOp};

use crate::attributes::{Kind, Range, Value};
use crate::expand::at;
use crate::fields::Neighbours;
use crate::form::{Way, unfit};
use crate::shape::Shape;

pub(crate) fn way(shape: Shape<'_>, value: &Value, neighbours: Neighbours<'_>) -> Result<Way> {
    let name = &value.name;
    match &value.kind {
        Kind::Range(range) => ranged(shape, name, range),
        Kind::Quantized(range, resolution) if matches!(shape, Shape::Float | Shape::Other) => {
            Ok(Way::Quantized(range.clone(), resolution.clone()))
        }
        Kind::Quantized(..) => {
            let what = "floats if it has a `resolution`: an integer takes each number of it";
            Err(unfit(name, what))
        }
        Kind::Bits(bits) => fixed(shape, name, bits),
        Kind::Varint if shape.may_be_integer() => Ok(Way::Varint),
        Kind::Distance(Some(base)) if shape.may_be_integer() => {
            let method = Ident::new(&name.to_string(), at(name.span()));
            let base = neighbours.base(base, shape)?;
            Ok(Way::Distance(method, base))
        }
        Kind::Distance(None) if shape.may_be_integer() => {
            let what = format!(
                "write `{name} = field` with an earlier field: only the items of a `Vec` or an array have one before"
            );
            Err(Error::new(name.span(), what))
        }
        Kind::Varint | Kind::Distance(_) => Err(unfit(name, "integers")),
        // It was taken before.
        Kind::With(path) => Ok(Way::With(path.clone())),
    }
}

fn ranged(shape: Shape<'_>, name: &Ident, range: &Range) -> Result<Way> {
    if matches!(shape, Shape::Float) {
        let what = "a range of floats needs a resolution: add `resolution = r`";
        return Err(Error::new(name.span(), what));
    }
    if !shape.may_be_integer() {
        return Err(unfit(name, "numbers: a `bool` takes one bit anyway"));
    }
    if let (Some(start), Some(end)) = (literal(&range.start), literal(&range.end)) {
        if start > end {
            let what = format!("no number is in {start}..={end}: the smaller one comes first");
            return Err(Error::new_spanned(&range.start, what));
        }
    }
    Ok(Way::Ranged(range.clone()))
}

fn fixed(shape: Shape<'_>, name: &Ident, bits: &Expr) -> Result<Way> {
    match (shape.integer(), literal(bits)) {
        (Some((_, true)), _) => Err(unfit(name, "unsigned integers: write `range = a..=b`")),
        (None, _) if !shape.may_be_integer() => Err(unfit(name, "unsigned integers")),
        (Some((width, _)), Some(bits_wanted))
            if !(1..=i128::from(width)).contains(&bits_wanted) =>
        {
            let what = format!("there are 1 to {width} bits in this type");
            Err(Error::new_spanned(bits, what))
        }
        _ => Ok(Way::Bits(bits.clone())),
    }
}

/// The number that stands there, if one does.
fn literal(expression: &Expr) -> Option<i128> {
    if let Expr::Unary(unary) = expression {
        let negated = matches!(unary.op, UnOp::Neg(_)).then(|| literal(&unary.expr));
        return negated.flatten().map(|number| -number);
    }
    let Expr::Lit(ExprLit {
        lit: Lit::Int(number),
        ..
    }) = expression
    else {
        return None;
    };
    number.base10_parse().ok()
}
