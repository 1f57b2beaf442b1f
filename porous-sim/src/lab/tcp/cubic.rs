//! Cubic (RFC 9438).

use super::window::Growth;

/// C and beta_cubic of RFC 9438 §4.6, §5.
const C: f64 = 0.4;
const BETA: f64 = 0.7;

#[derive(Debug, Default)]
pub(super) struct Cubic {
    /// W_max: the window at the last loss.
    most: f64,
    /// When this congestion avoidance began, in seconds.
    since: Option<f64>,
    /// K: the seconds after which the window is W_max again.
    rise: f64,
    /// W_est: the window of Reno with the same losses.
    reno: f64,
    /// The window at the beginning: cwnd_prior.
    prior: f64,
}

impl Growth for Cubic {
    fn on_ack(&mut self, now: f64, window: f64, acked: u32, rtt: f64) -> f64 {
        let acked = f64::from(acked);
        let since = match self.since {
            Some(since) => since,
            None => {
                self.begin(window);
                *self.since.insert(now)
            }
        };
        // RFC 9438 (4): as Reno, until the window is where it was.
        let alpha = if self.reno < self.prior {
            3.0 * (1.0 - BETA) / (1.0 + BETA)
        } else {
            1.0
        };
        self.reno += alpha * acked / window;
        let at = |time: f64| {
            let distance = time - self.rise;
            C * distance * distance * distance + self.most
        };
        let elapsed = now - since;
        if at(elapsed) < self.reno {
            // Where the curve is below the window of Reno, grow as Reno does (RFC 9438 §4.3).
            return window.max(self.reno);
        }
        let target = at(elapsed + rtt).clamp(window, 1.5 * window);
        window + (target - window) * acked / window
    }

    /// RFC 9438 §4.6, with fast convergence (§4.7).
    fn on_loss(&mut self, window: f64) -> f64 {
        self.most = if window < self.most {
            window * (1.0 + BETA) / 2.0
        } else {
            window
        };
        self.prior = window;
        self.since = None;
        window * BETA
    }
}

impl Cubic {
    /// RFC 9438 §4.2, (2).
    fn begin(&mut self, window: f64) {
        if self.most < window {
            self.most = window;
        }
        self.rise = cube_root((self.most - window) / C);
        self.reno = window;
    }
}

/// By Newton's method, with additions and multiplications alone: these are the same on all machines.
fn cube_root(of: f64) -> f64 {
    if of <= 0.0 {
        return 0.0;
    }
    let mut root = of.max(1.0);
    for _ in 0..64 {
        root = (2.0 * root + of / (root * root)) / 3.0;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_of_cubes() {
        for root in [0.0, 0.01, 1.0, 3.0, 1234.5] {
            let found = cube_root(root * root * root);
            assert!((found - root).abs() <= 1e-9 * root, "{root}: {found}");
        }
    }

    #[test]
    fn after_k_seconds_it_is_where_it_was() {
        let (mut cubic, rtt) = (Cubic::default(), 0.1);
        let mut window = cubic.on_loss(1000.0);
        assert!((window - 700.0).abs() < 1e-9);
        // K = cbrt(300 / 0.4) = 9.086 s.
        let mut now = 0.0;
        while now < 9.086 {
            window = cubic.on_ack(now, window, 70, rtt);
            now += rtt * 70.0 / window;
        }
        assert!((980.0..1005.0).contains(&window), "{window}");
    }
}
