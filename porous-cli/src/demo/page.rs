//! The run as a page: one file that needs no network and no script, light or dark as the reader's system is.

use core::fmt::Write as _;

use super::report::{ModeReport, Report};

/// The style of the page. The picture brings its own.
const STYLE: &str = "\
:root{color-scheme:light dark;--back:#ffffff;--text:#1d2733;--soft:#5b6875;--line:#d7dde3}
@media(prefers-color-scheme:dark){:root{--back:#14181d;--text:#e6eaee;--soft:#9aa7b3;--line:#333c46}}
body{background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif;max-width:56rem;
margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}p.soft{color:var(--soft)}
div.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .75rem;text-align:right;border-bottom:1px solid var(--line)}
th,td:first-child{white-space:nowrap}th:first-child,td:first-child{text-align:left;padding-left:0}svg{max-width:100%;height:auto}";

/// The texts of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Texts<'a> {
    pub(crate) conditions: &'a str,
    pub(crate) verdict: &'a str,
    pub(crate) svg: &'a str,
}

/// The page.
pub(crate) fn html(report: &Report, texts: Texts<'_>) -> String {
    let mut page = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut page, report, texts);
    page
}

fn write(page: &mut String, report: &Report, texts: Texts<'_>) -> core::fmt::Result {
    write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>porous demo</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n\
         <h1>A game&rsquo;s traffic over a bad network</h1>\n"
    )?;
    paragraph(page, "soft", texts.conditions)?;
    paragraph(page, "", texts.verdict)?;
    modes(page, report)?;
    writeln!(page, "<h2>Over time</h2>\n{}", texts.svg.trim_end())?;
    links(page, report)?;
    let file = &report.file;
    write!(
        page,
        "<p class=\"soft\">Beside it a file of {} bytes, right at {} of {} clients. {} bytes on the wire \
         for {} bytes delivered. Seed {}.</p>\n</body>\n</html>\n",
        file.bytes,
        file.sha256_ok,
        file.clients,
        report.wire_bytes,
        report.payload_bytes,
        report.seed
    )
}

fn paragraph(page: &mut String, class: &str, text: &str) -> core::fmt::Result {
    let lines = text.trim_end().replace('&', "&amp;").replace('<', "&lt;");
    let lines = lines.replace('\n', "<br>\n");
    writeln!(page, "<p class=\"{class}\">{lines}</p>")
}

fn modes(page: &mut String, report: &Report) -> core::fmt::Result {
    let heads = [
        "packets",
        "sent",
        "delivered",
        "lost",
        "doubled",
        "out of order",
        "corrupt",
        "p50 ms",
        "p95 ms",
        "p99 ms",
    ];
    let modes = &report.modes;
    let rows = [
        ("events, reliable", &modes.reliable),
        ("states, unreliable", &modes.unreliable),
        ("updates, passive", &modes.passive),
    ];
    let cells = |(name, mode): (&str, &ModeReport)| {
        let ms = |ms: Option<f64>| ms.map_or_else(|| "&ndash;".to_owned(), |ms| format!("{ms:.1}"));
        let counts = [
            mode.sent,
            mode.delivered,
            mode.lost,
            mode.duplicated,
            mode.out_of_order,
            mode.corrupt,
        ];
        let counts = counts.iter().map(u64::to_string);
        let latencies = [mode.p50_ms, mode.p95_ms, mode.p99_ms].map(ms);
        let name = core::iter::once(name.to_owned());
        name.chain(counts).chain(latencies).collect()
    };
    table(page, "Packets", &heads, rows.into_iter().map(cells))
}

fn links(page: &mut String, report: &Report) -> core::fmt::Result {
    let heads = [
        "client",
        "rtt ms",
        "jitter ms",
        "loss %",
        "quality",
        "wire bytes",
        "overhead %",
    ];
    let rows = (1..).zip(&report.links).map(|(number, link)| {
        vec![
            number.to_string(),
            format!("{:.1}", link.rtt_ms),
            format!("{:.1}", link.jitter_ms),
            format!("{:.2}", link.loss_percent),
            link.quality.to_string(),
            link.wire_bytes.to_string(),
            format!("{:.1}", link.overhead_percent),
        ]
    });
    table(page, "Connections", &heads, rows)
}

fn table(
    page: &mut String,
    title: &str,
    heads: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
) -> core::fmt::Result {
    writeln!(page, "<h2>{title}</h2>\n<div class=\"wide\"><table>")?;
    write!(page, "<tr>")?;
    heads
        .iter()
        .try_for_each(|head| write!(page, "<th>{head}</th>"))?;
    writeln!(page, "</tr>")?;
    for row in rows {
        write!(page, "<tr>")?;
        row.iter()
            .try_for_each(|cell| write!(page, "<td>{cell}</td>"))?;
        writeln!(page, "</tr>")?;
    }
    writeln!(page, "</table></div>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::report::tests::good;

    #[test]
    fn a_page_has_all_that_is_told_and_needs_nothing_else() {
        let texts = Texts {
            conditions: "1 < 2 & 3\nthen",
            verdict: "All is well.\n",
            svg: "<svg></svg>\n",
        };
        let page = html(&good(), texts);
        assert!(
            page.contains("<p class=\"soft\">1 &lt; 2 &amp; 3<br>\nthen</p>"),
            "{page}"
        );
        assert!(
            page.contains("<td>events, reliable</td><td>24</td>"),
            "{page}"
        );
        assert!(page.contains("<td>1</td><td>61.2</td>"), "{page}");
        assert!(page.contains("<svg></svg>\n<h2>Connections"), "{page}");
        for outside in ["http", "src=", "<link", "<script", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        for tag in ["table", "tr", "td", "th", "p", "div", "h2", "body", "html"] {
            let opened = page.matches(&format!("<{tag}>")).count()
                + page.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }
}
