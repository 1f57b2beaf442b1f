//! The tables of the codecs.

use core::fmt::Write as _;

use super::costs::{Cost, name};
use super::subject::{MESSAGES, SUBJECTS};

const FORMS: [&str; 2] = ["floats", "integers"];

/// The bits that the messages take: mean, least and most.
pub(crate) fn bits() -> String {
    let mut text = String::from(
        "# Codecs\n\nWhat the rows and columns mean: see `bench/README.md`, \"Codecs\".\n\n## Bits\n\n\
         | form | codec | bits | least | most |\n| --- | --- | --: | --: | --: |\n",
    );
    for subject in &SUBJECTS {
        let bits: Vec<usize> = (subject.lengths)().iter().map(|bytes| 8 * bytes).collect();
        let mean = bits.iter().sum::<usize>() as f64 / MESSAGES as f64;
        let [least, most] = [bits.iter().min(), bits.iter().max()].map(|end| end.unwrap_or(&0));
        let (form, codec) = (subject.form, subject.codec);
        // To write to a string never fails.
        _ = writeln!(text, "| {form} | {codec} | {mean:.1} | {least} | {most} |");
    }
    text
}

/// The instructions and the time that the messages take: a table for each form of the message.
pub(crate) fn costs(costs: &[Cost]) -> String {
    let mut text = String::new();
    for form in FORMS {
        _ = write!(
            text,
            "\n## Costs: {form}\n\n\
             | | codec | instructions | to the least | ns | to the least |\n\
             | --- | --- | --: | --: | --: | --: |\n"
        );
        let of_form: Vec<&Cost> = costs
            .iter()
            .filter(|cost| cost.subject.form == form)
            .collect();
        for cost in &of_form {
            let same = of_form
                .iter()
                .filter(|other| other.operation == cost.operation);
            let least =
                |of: fn(&Cost) -> f64| same.clone().map(|cost| of(cost)).fold(f64::MAX, f64::min);
            _ = writeln!(
                text,
                "| {} | {} | {:.0} | {:.2} | {:.1} | {:.2} |",
                name(cost.operation),
                cost.subject.codec,
                cost.instructions,
                cost.instructions / least(|cost| cost.instructions),
                cost.nanoseconds,
                cost.nanoseconds / least(|cost| cost.nanoseconds),
            );
        }
    }
    text
}
