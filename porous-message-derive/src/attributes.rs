//! The attributes in `#[message(...)]`, as they are written.

use proc_macro2::Ident;
use syn::meta::ParseNestedMeta;
use syn::parse::ParseStream;
use syn::{Attribute, Error, Member, Path, Result, Token};

use crate::range::{Number, Range};

const NAMES: &str = "there are `range`, `resolution`, `bits`, `varint`, `relative`, `delta`, `max`, \
                     `len`, `each`, `align`, `check`, `with` and `skip`";

/// How a value that is no container is written.
pub(crate) enum Kind {
    Range(Range),
    Quantized(Range, Number),
    Bits(Number),
    Varint,
    /// `relative` or `delta`: a distance from a field, or from the item before if there is no field.
    Distance(Option<Member>),
    With(Path),
}

/// A [`Kind`] and the attribute that asks for it.
pub(crate) struct Value {
    pub(crate) name: Ident,
    pub(crate) kind: Kind,
}

impl Value {
    /// True if the value is a distance from the item before.
    pub(crate) fn is_from_before(&self) -> bool {
        matches!(self.kind, Kind::Distance(None))
    }
}

/// The bounds of the number of bytes or items.
pub(crate) enum Count {
    Max(Number),
    Len(Range),
}

/// The attributes of a field, or those inside of `each(...)`.
#[derive(Default)]
pub(crate) struct Attributes {
    pub(crate) value: Option<Value>,
    pub(crate) count: Option<(Ident, Count)>,
    pub(crate) each: Option<(Ident, Box<Self>)>,
    pub(crate) align: Option<Ident>,
    pub(crate) check: Option<(Ident, Number)>,
    pub(crate) skip: Option<Ident>,
    resolution: Option<(Ident, Number)>,
}

/// Refuses `#[message(...)]` on anything but a field.
pub(crate) fn none(attributes: &[Attribute], what: &str) -> Result<()> {
    let found = attributes
        .iter()
        .find(|found| found.path().is_ident("message"));
    found.map_or(Ok(()), |found| {
        let what = format!("`message` belongs to a field, not to {what}");
        Err(Error::new_spanned(found, what))
    })
}

impl Attributes {
    pub(crate) fn of(attributes: &[Attribute]) -> Result<Self> {
        let mut all = Self::default();
        for attribute in attributes {
            if attribute.path().is_ident("message") {
                attribute.parse_nested_meta(|meta| all.take(&meta))?;
            }
        }
        all.finish()
    }

    /// Parses one attribute.
    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let name = meta.path.require_ident()?.clone();
        match name.to_string().as_str() {
            "range" => {
                let range = range(meta, "range = a..=b")?;
                self.set_value(name, Kind::Range(range))
            }
            "bits" => {
                let bits = number(meta, "bits = n")?;
                self.set_value(name, Kind::Bits(bits))
            }
            "varint" => self.set_value(name, Kind::Varint),
            "relative" | "delta" => {
                let base = base(meta, &name)?;
                self.set_value(name, Kind::Distance(base))
            }
            "with" => {
                let path = argument(meta, "with = function")?.parse()?;
                self.set_value(name, Kind::With(path))
            }
            "resolution" => {
                let resolution = number(meta, "resolution = r")?;
                once(&mut self.resolution, &name.clone(), (name, resolution))
            }
            "max" => {
                let max = number(meta, "max = n")?;
                self.set_count(name, Count::Max(max))
            }
            "len" => {
                let len = range(meta, "len = a..=b")?;
                self.set_count(name, Count::Len(len))
            }
            "each" => {
                let each = Self::inside(meta)?;
                once(&mut self.each, &name.clone(), (name, Box::new(each)))
            }
            "align" => once(&mut self.align, &name.clone(), name),
            "check" => {
                let word = number(meta, "check = 0x12345678")?;
                once(&mut self.check, &name.clone(), (name, word))
            }
            "skip" => once(&mut self.skip, &name.clone(), name),
            _ => Err(meta.error(format!("unknown attribute `{name}`: {NAMES}"))),
        }
    }

    /// Parses the attributes in the parentheses of `each`.
    fn inside(meta: &ParseNestedMeta<'_>) -> Result<Self> {
        if !meta.input.peek(syn::token::Paren) {
            return Err(meta.error("write `each(...)`, with the attributes of each item inside"));
        }
        let mut each = Self::default();
        meta.parse_nested_meta(|inner| each.take(&inner))?;
        let each = each.finish()?;
        let check = each.check.as_ref().map(|(name, _)| name);
        match each.align.as_ref().or(check).or(each.skip.as_ref()) {
            Some(name) => {
                let what = format!("`{name}` is for a whole field: write it outside of `each`");
                Err(Error::new(name.span(), what))
            }
            None => Ok(each),
        }
    }

    /// An attribute that has a meaning only for a field that is sent, if there is any.
    pub(crate) fn sent(&self) -> Option<&Ident> {
        let value = self.value.as_ref().map(|value| &value.name);
        let count = self.count.as_ref().map(|(name, _)| name);
        let each = self.each.as_ref().map(|(name, _)| name);
        let check = self.check.as_ref().map(|(name, _)| name);
        value.or(count).or(each).or(self.align.as_ref()).or(check)
    }

    fn set_value(&mut self, name: Ident, kind: Kind) -> Result<()> {
        if let Some(other) = self.value.as_ref().filter(|other| other.name != name) {
            return Err(exclusive(&name, &other.name));
        }
        once(&mut self.value, &name.clone(), Value { name, kind })
    }

    fn set_count(&mut self, name: Ident, count: Count) -> Result<()> {
        if let Some((other, _)) = self.count.as_ref().filter(|(other, _)| *other != name) {
            return Err(exclusive(&name, other));
        }
        once(&mut self.count, &name.clone(), (name, count))
    }

    /// Checks the attributes together, once all are parsed.
    fn finish(mut self) -> Result<Self> {
        // Only now, as `resolution` may stand before its `range`.
        if let Some((name, resolution)) = self.resolution.take() {
            let Some(Value {
                name: range_name,
                kind: Kind::Range(range),
            }) = self.value.take()
            else {
                let what = "`resolution` belongs to a range: write `range = a..=b, resolution = r`";
                return Err(Error::new(name.span(), what));
            };
            self.value = Some(Value {
                name: range_name,
                kind: Kind::Quantized(range, resolution),
            });
        }
        Ok(self)
    }
}

/// The input after `=`.
fn argument<'a>(meta: &ParseNestedMeta<'a>, example: &str) -> Result<ParseStream<'a>> {
    let value = meta.value();
    value.map_err(|_| meta.error(format!("write `{example}`")))
}

fn number(meta: &ParseNestedMeta<'_>, example: &str) -> Result<Number> {
    Number::parse(argument(meta, example)?, example)
}

fn range(meta: &ParseNestedMeta<'_>, example: &str) -> Result<Range> {
    Range::parse(argument(meta, example)?, example)
}

/// The field that a distance is measured from.
fn base(meta: &ParseNestedMeta<'_>, name: &Ident) -> Result<Option<Member>> {
    if !meta.input.peek(Token![=]) {
        return Ok(None);
    }
    let input = meta.value()?;
    let start = input.span();
    let member = input.parse();
    let what = format!("write `{name} = field` with the name of an earlier field, or its number");
    member.map(Some).map_err(|_| Error::new(start, what))
}

fn once<T>(place: &mut Option<T>, name: &Ident, value: T) -> Result<()> {
    match place.replace(value) {
        Some(_) => Err(Error::new(name.span(), format!("`{name}` is here twice"))),
        None => Ok(()),
    }
}

pub(crate) fn exclusive(name: &Ident, other: &Ident) -> Error {
    let what = format!("`{name}` and `{other}` exclude each other: keep one of them");
    Error::new(name.span(), what)
}
