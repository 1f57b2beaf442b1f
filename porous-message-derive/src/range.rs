//! `a..=b` and other bounds, and the checks that can be made before the program runs.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, Lit, Result, Token, Type, UnOp};

use crate::expand::at;

/// A number, a constant, or an expression of them.
#[derive(Clone)]
pub(crate) struct Number {
    tokens: TokenStream,
    /// The value, if it is written as an integer.
    pub(crate) literal: Option<i128>,
    /// The value, if it is written as a number, whole or not.
    float: Option<f64>,
}

/// A range. Both ends belong to it.
#[derive(Clone)]
pub(crate) struct Range {
    start: Number,
    end: Number,
}

impl Number {
    /// Parses a number before a comma or before the dots of a range.
    pub(crate) fn parse(input: ParseStream<'_>, example: &str) -> Result<Self> {
        let start = input.span();
        let mut tokens = TokenStream::new();
        // The dots are found here and not by `syn`: whether it takes `a..=b` for one expression depends on
        // the features that other crates ask it for.
        while !(input.is_empty() || input.peek(Token![..]) || input.peek(Token![,])) {
            tokens.extend([input.parse::<TokenTree>()?]);
        }
        let expression: Expr = syn::parse2(tokens).map_err(|_| {
            let what = "with numbers, constants or expressions of them";
            Error::new(start, format!("write `{example}` {what}"))
        })?;
        Ok(Self {
            literal: literal(&expression),
            float: float(&expression),
            tokens: expression.into_token_stream(),
        })
    }

    /// Checks a resolution that is written as a number. The compiler checks constants and expressions.
    pub(crate) fn check_resolution(&self) -> Result<()> {
        let Some(number) = self
            .float
            .filter(|number| number.is_nan() || *number <= 0.0)
        else {
            return Ok(());
        };
        let what =
            format!("steps are more than nothing apart: write a number above 0, not {number}");
        Err(Error::new_spanned(self, what))
    }

    /// The number of bits, in code that makes the compiler check that the type has as many.
    pub(crate) fn of_bits(&self, ty: &Type) -> TokenStream {
        quote_spanned! { at(self.span())=> const {
            let bits: ::core::primitive::u32 = #self;
            ::core::assert!(1 <= bits && bits <= <#ty>::BITS, "the type has fewer bits, or the number is 0");
            bits
        }}
    }
}

impl ToTokens for Number {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.tokens.to_tokens(tokens);
    }
}

impl Range {
    pub(crate) fn parse(input: ParseStream<'_>, example: &str) -> Result<Self> {
        let start = Number::parse(input, example)?;
        if !input.peek(Token![..=]) {
            let what = format!("write `{example}`: both ends belong to it");
            return Err(Error::new_spanned(start, what));
        }
        // `..` was refused above, so that both ends belong to every range.
        input.parse::<Token![..=]>()?;
        let end = Number::parse(input, example)?;
        let ends = start.literal.zip(end.literal);
        let is_empty = ends.is_some_and(|(start, end)| start > end);
        let range = Self { start, end };
        if is_empty {
            let what = "nothing is in this range: the least value comes first";
            return Err(Error::new_spanned(range, what));
        }
        Ok(range)
    }

    /// The range, in code that makes the compiler check that the range is not empty.
    pub(crate) fn of_integers(&self, ty: &Type) -> TokenStream {
        let Self { start, end } = self;
        quote_spanned! { self.at()=> {
            const {
                let (start, end): (#ty, #ty) = (#start, #end);
                ::core::assert!(start <= end, "nothing is in this range");
            }
            #self
        }}
    }

    /// An assertion for the compiler that the range can have steps of this resolution.
    pub(crate) fn has_steps(&self, resolution: &Number, ty: &Type) -> TokenStream {
        let Self { start, end } = self;
        quote_spanned! { self.at()=>
            let (start, end, step): (#ty, #ty, #ty) = (#start, #end, #resolution);
            ::core::assert!(start < end && step > 0.0, "there are no steps in this range");
        }
    }

    fn at(&self) -> Span {
        at(self.start.span())
    }
}

impl ToTokens for Range {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { start, end } = self;
        tokens.extend(quote_spanned!(self.at()=> #start..=#end));
    }
}

/// The value of a number, whole or not, with or without a minus sign; `None` for other expressions.
fn float(expression: &Expr) -> Option<f64> {
    if let Expr::Unary(unary) = expression {
        let negated = matches!(unary.op, UnOp::Neg(_)).then(|| float(&unary.expr));
        return negated.flatten().map(|number| -number);
    }
    let Expr::Lit(ExprLit { lit, .. }) = expression else {
        return None;
    };
    if let Lit::Int(number) = lit {
        return number.base10_parse().ok();
    }
    let Lit::Float(number) = lit else {
        return None;
    };
    number.base10_parse().ok()
}

/// The value of an integer, with or without a minus sign; `None` for other expressions.
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
