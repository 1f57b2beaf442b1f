//! The time of each operation, measured by divan.

use divan::Bencher;
use divan::counter::ItemsCount;

use super::subject::{MESSAGES, Operation, SUBJECTS, Subject};

pub(crate) fn main() {
    divan::Divan::default().sample_count(400).run_benches();
}

fn all_messages(bencher: Bencher<'_, '_>, subject: &Subject, operation: Operation) {
    let pass = (subject.pass)(operation);
    bencher.counter(ItemsCount::new(MESSAGES)).bench_local(pass);
}

#[divan::bench(args = SUBJECTS)]
fn write(bencher: Bencher<'_, '_>, subject: &Subject) {
    all_messages(bencher, subject, Operation::Write);
}

#[divan::bench(args = SUBJECTS)]
fn read(bencher: Bencher<'_, '_>, subject: &Subject) {
    all_messages(bencher, subject, Operation::Read);
}

#[divan::bench(args = SUBJECTS)]
fn measure(bencher: Bencher<'_, '_>, subject: &Subject) {
    all_messages(bencher, subject, Operation::Measure);
}
