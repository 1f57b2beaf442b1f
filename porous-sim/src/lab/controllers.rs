//! The controllers that are measured.

use alloc::boxed::Box;

use porous_proto::congestion::Congestion;

use super::ends::Ends;
use super::porous::Porous;
use super::tcp::{Tcp, TcpFlow};
use super::work::Work;
use crate::Seed;

/// A controller that is measured.
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    /// The name of the controller in tables and on the command line.
    pub name: &'static str,
    /// True if its runs are drawn.
    pub plot: bool,
    pub(super) subject: Subject,
    pub(super) class: Class,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Subject {
    /// `None`: what a host has that is not told.
    Porous(Option<Congestion>),
    Tcp(Tcp),
}

/// The class of a controller, which decides its gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// No gates.
    Report,
    /// The controller goes on until a datagram is lost.
    Loss,
    /// The controller keeps the queue short.
    Delay,
}

/// All controllers that are measured.
pub const CONTROLLERS: &[Controller] = &[
    porous("lean", Congestion::Lean, Class::Delay),
    porous("reno", Congestion::Reno, Class::Loss),
    porous("cubic", Congestion::Cubic, Class::Loss),
    porous("paper", Congestion::Paper, Class::Report),
    told("fixed", Congestion::Fixed { rate: 1_000_000 }),
    told(
        "binary",
        Congestion::Binary {
            good: 1_000_000,
            bad: 100_000,
        },
    ),
    tcp(Tcp::Reno),
    tcp(Tcp::Cubic),
    tcp(Tcp::Bbr),
];

/// What a host has that is not told. It is asked to keep the queue short.
const DEFAULT: Controller = Controller {
    name: "default",
    plot: true,
    subject: Subject::Porous(None),
    class: Class::Delay,
};

const fn porous(name: &'static str, congestion: Congestion, class: Class) -> Controller {
    Controller {
        name,
        plot: true,
        subject: Subject::Porous(Some(congestion)),
        class,
    }
}

/// A controller that is told its rate and measures nothing. Not drawn: its run is a straight line.
const fn told(name: &'static str, congestion: Congestion) -> Controller {
    Controller {
        plot: false,
        // No gates: its numbers follow from the rate that it is told.
        ..porous(name, congestion, Class::Report)
    }
}

/// A TCP, which has no gates: it shows what each path is like.
const fn tcp(tcp: Tcp) -> Controller {
    Controller {
        name: tcp.name(),
        plot: true,
        subject: Subject::Tcp(tcp),
        class: Class::Report,
    }
}

impl Controller {
    /// The controller of this name, with or without hyphens; `default` is what a host has that is not told.
    ///
    /// ```
    /// use porous_sim::lab::Controller;
    ///
    /// assert_eq!(Controller::named("tcpbbr").unwrap().name, "tcp-bbr");
    /// assert!(Controller::named("default").is_some() && Controller::named("quic").is_none());
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let plain = |name: &str| name.replace('-', "");
        let mut all = CONTROLLERS.iter().chain([&DEFAULT]);
        all.find(|controller| plain(controller.name) == plain(name))
            .copied()
    }

    /// True if it is a model of TCP, which has no host of porous.
    ///
    /// ```
    /// use porous_sim::lab::Controller;
    ///
    /// assert!(Controller::named("tcp-bbr").unwrap().is_tcp());
    /// assert!(!Controller::named("lean").unwrap().is_tcp());
    /// ```
    #[must_use]
    pub const fn is_tcp(&self) -> bool {
        matches!(self.subject, Subject::Tcp(_))
    }

    /// True if there are gates for this controller.
    ///
    /// ```
    /// use porous_sim::lab::CONTROLLERS;
    ///
    /// let paper = CONTROLLERS.iter().find(|controller| controller.name == "paper");
    /// assert!(!paper.unwrap().is_asked());
    /// ```
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.class != Class::Report
    }
}

impl Subject {
    /// The two ends of a flow. TCP sends bulk data only.
    pub(super) fn ends(self, work: Work, seed: Seed) -> Box<dyn Ends> {
        match self {
            Self::Porous(congestion) => Box::new(Porous::new(congestion, work, seed)),
            Self::Tcp(tcp) => Box::new(TcpFlow::new(tcp, seed)),
        }
    }
}
