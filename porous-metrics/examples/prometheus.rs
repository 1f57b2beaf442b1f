//! A server with a page for Prometheus: `cargo run -p porous-metrics --example prometheus`, then
//! `curl localhost:9464`.

use core::time::Duration;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::{error, thread};

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use porous_metrics::Sampler;
use porous_std::{Config, Event, Listen, UdpHost};

fn main() -> Result<(), Box<dyn error::Error>> {
    let mut builder = PrometheusBuilder::new();
    for (name, bounds) in porous_metrics::BUCKETS {
        builder = builder.set_buckets_for_metric(Matcher::Full(name.into()), bounds)?;
    }
    let page = builder.install_recorder()?;
    porous_metrics::describe();

    let listener = TcpListener::bind("127.0.0.1:9464")?;
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (text, mut request) = (page.render(), [0; 1024]);
            let head = "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n\r\n";
            // Who does not wait for the answer does not get it.
            let _ = stream.read(&mut request);
            let _ = stream.write_all([head, &text].concat().as_bytes());
            page.run_upkeep();
        }
    });

    let mut host = UdpHost::bind("[::]:4000", Config::new())?;
    host.listen(Listen::Open)?;
    let mut sampler = Sampler::new("lobby");
    loop {
        host.wait(Duration::from_millis(100))?;
        while let Some(event) = host.poll_event() {
            if let Event::Readable { peer } = event {
                while host.receive(peer).is_some() {}
            }
        }
        if sampler.sample(host.host(), host.now()) {
            sampler.sample_socket(&host.socket_stats());
        }
    }
}
