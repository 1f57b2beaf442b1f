//! What all pictures share: the ticks of their axes, and a style for readers whose systems are light or dark.

use core::ops::Range;

use plotters::coord::ranged1d::{BoldPoints, Ranged as _};
use plotters::coord::types::RangedCoordf64;

/// The colours of a picture where the reader's system is dark. It is drawn black on white; curves have colours that
/// can be told from both backgrounds.
const STYLE: &str = "\
@media(prefers-color-scheme:dark){svg rect[fill=\"#FFFFFF\"]{fill:#14181d}svg text[fill=\"#000000\"]{fill:#e6eaee}\
svg [stroke=\"#000000\"]{stroke:#e6eaee}}";

/// The most decimals of a tick.
const MOST_DECIMALS: usize = 9;

/// A picture with its title, which browsers show and which is read to those who do not see it, and its style.
pub(crate) fn finished(svg: &str, title: &str) -> String {
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    // Behind the first tag, which is that of the picture.
    let (tag, rest) = svg.split_once('>').unwrap_or((svg, ""));
    format!("{tag}>\n<title>{title}</title>\n<style>{STYLE}</style>{rest}")
}

/// The decimals by which the ticks of an axis are told apart, if it has at most that many.
pub(crate) fn decimals(axis: &Range<f64>, ticks: usize) -> usize {
    let points = RangedCoordf64::from(axis.clone()).key_points(BoldPoints(ticks));
    let steps = points.windows(2).map(|pair| pair[1] - pair[0]);
    let step = steps.fold(f64::INFINITY, f64::min);
    let is_exact = |decimals: &usize| {
        points.iter().all(|&point| {
            let shown = format!("{point:.decimals$}").parse::<f64>();
            shown.is_ok_and(|shown| (shown - point).abs() < step / 100.0)
        })
    };
    (0..MOST_DECIMALS).find(is_exact).unwrap_or(MOST_DECIMALS)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use plotters::style::RGBColor;

    /// The contrast of a colour with a background (WCAG 2.2, "contrast ratio").
    fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
        let light = |colour: [u8; 3]| {
            let [r, g, b] = colour.map(|byte| {
                let share = f64::from(byte) / 255.0;
                if share <= 0.04045 {
                    share / 12.92
                } else {
                    ((share + 0.055) / 1.055).powf(2.4)
                }
            });
            0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        let (one, other) = (light(one) + 0.05, light(other) + 0.05);
        one.max(other) / one.min(other)
    }

    /// What WCAG asks of graphics.
    pub(crate) fn can_be_seen(colours: &[RGBColor]) {
        for &RGBColor(r, g, b) in colours {
            for background in [[255; 3], [0x14, 0x18, 0x1d]] {
                let contrast = contrast([r, g, b], background);
                assert!(contrast >= 3.0, "{r} {g} {b}: {contrast}");
            }
        }
    }

    #[test]
    fn ticks_differ_however_small_the_axis_is() {
        for top in [
            1e-3, 0.0012, 0.03, 0.2, 0.9, 1.0, 1.4, 3.0, 7.7, 12.0, 150.0, 2e6,
        ] {
            for ticks in [4, 5, 6, 10] {
                let axis = 0.0..top;
                let decimals = decimals(&axis, ticks);
                let points = RangedCoordf64::from(axis).key_points(BoldPoints(ticks));
                let labels: Vec<String> =
                    points.iter().map(|it| format!("{it:.decimals$}")).collect();
                let mut distinct = labels.clone();
                distinct.dedup();
                assert!(labels == distinct && labels.len() > 1, "{top}: {labels:?}");
            }
        }
        assert_eq!(
            [decimals(&(0.0..60.0), 6), decimals(&(0.0..1.2), 4)],
            [0, 1]
        );
    }

    #[test]
    fn a_title_is_text_whatever_is_in_it() {
        let svg = finished("<svg width=\"1\">\n<rect/>\n</svg>\n", "1 < 2 & 3");
        assert!(
            svg.starts_with("<svg width=\"1\">\n<title>1 &lt; 2 &amp; 3</title>\n<style>"),
            "{svg}"
        );
        assert!(svg.ends_with("</style>\n<rect/>\n</svg>\n"), "{svg}");
    }
}
