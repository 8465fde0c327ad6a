//! The conformance suite, whole, on the simulated network.

use transport_core::Transport;
use transport_core::conformance::{Options, heap_bytes, run};
use transport_loopback::sim::{Exploration, Network, Sim};

const NETWORKS: [Network; 3] = [
    Network { torn: true, ordered: false, late_source: true },
    Network { torn: true, ordered: true, late_source: true },
    Network { torn: false, ordered: false, late_source: false },
];

/// Runs it once for each seed, on each kind of network.
fn suite(n_pes: usize, seeds: std::ops::Range<u64>, networks: &[Network], options: &Options) {
    for seed in seeds {
        for &network in networks {
            let sim =
                Sim::new(n_pes).heap_size(heap_bytes(n_pes)).seed(seed).network(network).time_outs(true);
            let options = options.clone().threads(false).seed(seed);
            let body = |pe: transport_loopback::sim::SimPe| {
                let options = options.clone();
                async move {
                    let report = run(&pe, &options).await;
                    if !report.passed() {
                        return Err(report.to_string());
                    }
                    if report.ended { Ok(()) } else { pe.finalize().await.map_err(|error| error.to_string()) }
                }
            };
            for how in [Exploration::Random { schedules: 1 }, Exploration::Pct { schedules: 1, depth: 3 }] {
                if let Err(failure) = sim.explore(how, body) {
                    panic!("{n_pes} PEs, {network:?}: {failure}");
                }
            }
        }
    }
}

#[test]
fn of_one_pe() {
    suite(1, 1..2, &NETWORKS, &Options::default().rounds_percent(10));
}

#[test]
fn of_two_pes() {
    suite(2, 1..3, &NETWORKS, &Options::default().rounds_percent(5));
}

#[test]
fn of_three_pes() {
    suite(3, 3..4, &NETWORKS, &Options::default().rounds_percent(5));
}

#[test]
fn of_five_pes() {
    suite(5, 5..6, &NETWORKS[..2], &Options::default().rounds_percent(1));
}

#[test]
fn of_eight_pes() {
    suite(8, 8..9, &NETWORKS[..1], &Options::default().rounds_percent(1));
}

#[test]
fn an_abort_ends_every_wait() {
    for n_pes in [2, 3, 5] {
        suite(n_pes, 1..4, &NETWORKS, &Options::default().only("abort_ends_every_wait"));
    }
}
