//! The results as tables, for a person to read.

use std::io::{self, Write};

use super::report::{ModeReport, Report};

/// Writes the tables.
pub(crate) fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "seed {}, {} s of traffic\n",
        report.seed, report.seconds
    )?;
    modes(report, out)?;
    let file = &report.file;
    writeln!(
        out,
        "\nfile of {} bytes: right at {} of {} clients\n",
        file.bytes, file.sha256_ok, file.clients
    )?;
    if let Some(sealed) = report.sealed_clients {
        let clients = report.links.len();
        writeln!(
            out,
            "sealed, by the key of the server: {sealed} of {clients} clients\n"
        )?;
    }
    links(report, out)?;
    writeln!(
        out,
        "\n{} bytes on the wire for {} bytes delivered",
        report.wire_bytes, report.payload_bytes
    )
}

fn modes(report: &Report, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "{:<10}{:>7}{:>10}{:>6}{:>8}{:>9}{:>8}{:>7}{:>7}{:>7}",
        "mode",
        "sent",
        "delivered",
        "lost",
        "doubled",
        "disorder",
        "corrupt",
        "p50 ms",
        "p95 ms",
        "p99 ms"
    )?;
    let modes = &report.modes;
    for (name, mode) in [
        ("reliable", &modes.reliable),
        ("unreliable", &modes.unreliable),
        ("passive", &modes.passive),
    ] {
        row(name, mode, out)?;
    }
    Ok(())
}

fn row(name: &str, mode: &ModeReport, out: &mut impl Write) -> io::Result<()> {
    let [p50, p95, p99] = [mode.p50_ms, mode.p95_ms, mode.p99_ms]
        .map(|ms| ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.1}")));
    writeln!(
        out,
        "{name:<10}{:>7}{:>10}{:>6}{:>8}{:>9}{:>8}{p50:>7}{p95:>7}{p99:>7}",
        mode.sent, mode.delivered, mode.lost, mode.duplicated, mode.out_of_order, mode.corrupt
    )
}

fn links(report: &Report, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "{:<10} {:>9} {:>9} {:>9} {:>7} {:>12} {:>10}",
        "client", "rtt ms", "jitter ms", "loss %", "quality", "wire bytes", "overhead %"
    )?;
    for (number, link) in (1..).zip(&report.links) {
        writeln!(
            out,
            "{number:<10} {:>9.1} {:>9.1} {:>9.2} {:>7} {:>12} {:>10.1}",
            link.rtt_ms,
            link.jitter_ms,
            link.loss_percent,
            link.quality,
            link.wire_bytes,
            link.overhead_percent
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::good;

    #[test]
    fn a_report_as_text() {
        let mut out = Vec::new();
        super::write(&good(), &mut out).unwrap();
        let expected = "\
seed 5, 1 s of traffic

mode         sent delivered  lost doubled disorder corrupt p50 ms p95 ms p99 ms
reliable       24        24     0       0        0       0   31.5      -      -
unreliable    120       117     3       0        0       0   31.5      -      -
passive         0         0     0       0        0       0      -      -      -

file of 10 bytes: right at 1 of 1 clients

sealed, by the key of the server: 1 of 1 clients

client        rtt ms jitter ms    loss % quality   wire bytes overhead %
1               61.2       2.5      2.00      96         9000       12.5

9000 bytes on the wire for 8000 bytes delivered
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
