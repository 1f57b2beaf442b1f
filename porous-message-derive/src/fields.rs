//! The fields of a struct or of a variant.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, Index, Member, Result, Type};

use crate::attributes::Attributes;
use crate::bounds::Need;
use crate::emit::emit;
use crate::expand::at;
use crate::form::{Form, resolve};
use crate::shape::Shape;

/// A field, and the name of the reference to it in the generated functions.
pub(crate) struct Field {
    member: Member,
    binding: Ident,
    ty: Type,
    attributes: Attributes,
}

/// The fields before a field, and the others from that field on.
#[derive(Clone, Copy)]
pub(crate) struct Neighbours<'a> {
    earlier: &'a [Field],
    later: &'a [Field],
}

pub(crate) struct Fields {
    /// The fields in their order on the wire. A field without a form is not sent.
    fields: Vec<(Field, Option<Form>)>,
}

/// All values, or all errors combined, so that the compiler shows every mistake at once.
pub(crate) fn all<T>(items: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
    let (mut good, mut errors) = (Vec::new(), None::<Error>);
    for item in items {
        match (item, &mut errors) {
            (Ok(item), _) => good.push(item),
            (Err(error), None) => errors = Some(error),
            (Err(error), Some(errors)) => errors.combine(error),
        }
    }
    errors.map_or(Ok(good), Err)
}

impl Fields {
    pub(crate) fn new(fields: &syn::Fields) -> Result<Self> {
        let fields = all(fields.iter().zip(0..).map(Field::new))?;
        let forms = all((0..fields.len()).map(|index| {
            let (earlier, later) = fields.split_at(index);
            later[0].form(Neighbours { earlier, later })
        }))?;
        let fields = fields.into_iter().zip(forms).collect();
        Ok(Self { fields })
    }

    /// `{ a: ..., b: ... }`, which the language allows for tuples (`0: ...`) and units, too.
    pub(crate) fn blank(&self) -> TokenStream {
        let values = self.fields.iter().map(|(field, form)| {
            let member = &field.member;
            let blank = form.as_ref().map(|form| form.blank.clone());
            let blank = blank.unwrap_or_else(|| default(&field.ty));
            quote!(#member: #blank)
        });
        quote!({ #(#values),* })
    }

    /// `{ a: first, b: second }`
    pub(crate) fn pattern(&self) -> TokenStream {
        let names = self.fields.iter().map(|(field, form)| {
            let (member, binding) = (&field.member, &field.binding);
            match form {
                Some(_) => quote!(#member: #binding),
                None => quote!(#member: _),
            }
        });
        quote!({ #(#names),* })
    }

    /// The statements that serialize the fields, one after the other. Their names, for the one that looks for a
    /// fault, begin with that of their variant.
    pub(crate) fn body(&self, variant: Option<&Ident>) -> TokenStream {
        let fields = self.fields.iter();
        fields
            .filter_map(|(field, form)| Some(field.serialize(form.as_ref()?, variant)))
            .collect()
    }

    /// Assertions on the fields that the compiler evaluates.
    pub(crate) fn checks(&self) -> Vec<TokenStream> {
        let forms = self.fields.iter().filter_map(|(_, form)| form.as_ref());
        forms.filter_map(Form::check).cloned().collect()
    }

    pub(crate) fn needs(&self) -> Vec<Need> {
        let needs = self.fields.iter().map(|(field, form)| match form {
            Some(form) => form.need.clone(),
            None => Need::Default(field.ty.clone()),
        });
        needs.collect()
    }
}

impl Field {
    fn new((field, number): (&syn::Field, u32)) -> Result<Self> {
        let index = || Index {
            index: number,
            span: Span::mixed_site(),
        };
        let member = field
            .ident
            .clone()
            .map_or_else(|| index().into(), Member::from);
        let attributes = Attributes::of(&field.attrs)?;
        // Such an attribute would be ignored, which its author cannot have meant.
        if let (Some(_), Some(other)) = (&attributes.skip, attributes.sent()) {
            let what =
                format!("`{other}` says how a field is sent, and `skip` says that it is not");
            return Err(Error::new(other.span(), what));
        }
        Ok(Self {
            member,
            // By number, as tuples have no names, and hygienic, so that no name of the source clashes.
            binding: format_ident!("__field{number}", span = Span::mixed_site()),
            ty: field.ty.clone(),
            attributes,
        })
    }

    fn form(&self, neighbours: Neighbours<'_>) -> Result<Option<Form>> {
        if self.attributes.skip.is_some() {
            return Ok(None);
        }
        resolve(&self.ty, (&self.attributes).into(), neighbours).map(Some)
    }

    /// The name for people: `field`, or `Variant.field`.
    fn name(&self, variant: Option<&Ident>) -> String {
        let member = match &self.member {
            Member::Named(name) => name.unraw().to_string(),
            Member::Unnamed(index) => index.index.to_string(),
        };
        match variant {
            Some(variant) => format!("{}.{member}", variant.unraw()),
            None => member,
        }
    }

    fn serialize(&self, form: &Form, variant: Option<&Ident>) -> TokenStream {
        let align = self.attributes.align.as_ref().map(
            |align| quote_spanned!(at(align.span())=> ::porous_message::Stream::align(__stream)?;),
        );
        let check = self.attributes.check.as_ref().map(|(check, word)| {
            quote_spanned!(at(check.span())=> ::porous_message::Stream::check(__stream, #word)?;)
        });
        let value = emit(form, &self.binding);
        let name = self.name(variant);
        quote_spanned! { Span::mixed_site()=>
            #align
            #check
            ::porous_message::Stream::field(__stream, #name, |__stream| #value)?;
        }
    }
}

impl Neighbours<'_> {
    /// The name of the reference to the integer from which a distance is measured.
    pub(crate) fn base(&self, member: &Member, ty: Shape<'_>) -> Result<Ident> {
        let error = |what: String| Err(Error::new_spanned(member, what));
        let name = quote!(#member);
        let is_it = |field: &&Field| field.member == *member;
        let Some(field) = self.earlier.iter().find(is_it) else {
            return match self.later.iter().find(is_it) {
                Some(_) => error(format!(
                    "`{name}` is not there yet: put it before this field"
                )),
                None => error(format!("there is no field `{name}` here")),
            };
        };
        if field.attributes.skip.is_some() {
            return error(format!(
                "`{name}` is not sent, so the reader does not know it"
            ));
        }
        let found = Shape::of(&field.ty)?;
        // Types under an alias are let through: the compiler checks them.
        let differs =
            ty.integer().is_some() && found.integer().is_some() && ty.integer() != found.integer();
        if differs || !found.may_be_integer() {
            return error(format!("`{name}` is not an integer of the same type"));
        }
        Ok(field.binding.clone())
    }
}

pub(crate) fn default(ty: &Type) -> TokenStream {
    quote_spanned!(at(ty.span())=>
        <#ty as ::core::default::Default>::default()
    )
}
