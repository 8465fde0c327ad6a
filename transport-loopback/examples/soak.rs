//! The reference job (`add -> allGather -> allGather -> add`, captured once, replayed twice) on the simulated network, in random
//! schedules and by priorities, for as many steps as asked for, with the race detector listening.
//!
//! `cargo run --release -p transport-loopback --example soak -- 10000000 [SEED]`

use std::sync::Arc;
use std::time::Instant;

use transport_core::Transport;
use transport_core::collectives::AllGatherAlgorithm::Auto;
use transport_core::graph::{CaptureMode, DeviceBuffer, GraphError, InlineQueue, Stream, kernels};
use transport_loopback::sim::{Exploration, RaceDetector, Sim, SimPe};

const ELEMENTS: usize = 4;

/// The job of one PE; wrong data ends it by a panic, as in a test.
async fn reference_job(pe: SimPe) -> Result<(), GraphError> {
    let pe = Arc::new(pe);
    let (me, n) = (pe.my_pe(), pe.n_pes());
    let (a, b) = (pe.calloc::<i32>(n * ELEMENTS).await?, pe.calloc::<i32>(n * ELEMENTS).await?);
    let mine = vec![10 + me as i32; ELEMENTS];
    pe.heap().write(a.part(me, n)?, &mine)?;
    pe.heap().write(b.part(me, n)?, &mine)?;
    let mut step = vec![0; n * ELEMENTS];
    step.iter_mut().skip(me * ELEMENTS).take(ELEMENTS).for_each(|element| *element = 10 + me as i32);
    let (step, sum) = (DeviceBuffer::from_slice(&step)?, DeviceBuffer::<i32>::zeroed(n * ELEMENTS)?);
    let out = DeviceBuffer::<i32>::zeroed(n * ELEMENTS)?;
    let stream = Stream::with_queue(Arc::clone(&pe), InlineQueue::new(Arc::clone(&pe)));
    let graph = stream.capture(CaptureMode::Relaxed, |stream| {
        stream.launch_kernel(kernels::vector_add(&sum, a, &step))?;
        stream.memcpy_async(a, &sum)?;
        stream.all_gather_in_place(a, Auto)?;
        stream.all_gather_in_place(b, Auto)?;
        stream.launch_kernel(kernels::vector_add(&out, a, b))
    })?;
    for round in 0..3 {
        graph.run(&*pe).await?;
        for (at, found) in out.read_vec().into_iter().enumerate() {
            let from = (at / ELEMENTS) as i32;
            assert_eq!(found, (10 + from) * (3 + round), "round {round}, PE {me}, element {at}");
        }
    }
    Ok(pe.finalize().await?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let most: u64 = arguments.next().map_or(Ok(10_000_000), |text| text.parse())?;
    let mut seed: u64 = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let (began, mut steps, mut schedules) = (Instant::now(), 0, 0);
    while steps < most {
        for n in [2, 3, 5, 8] {
            for how in [Exploration::Random { schedules: 50 }, Exploration::Pct { schedules: 50, depth: 3 }] {
                let sim = Sim::new(n).seed(seed).listener(RaceDetector::new());
                let explored = sim.explore(how, reference_job)?;
                steps += explored.steps;
                schedules += explored.schedules;
            }
        }
        seed += 1;
    }
    let seconds = began.elapsed().as_secs_f64();
    let rate = steps as f64 / seconds / 1e6;
    eprintln!(
        "{steps} steps of {schedules} schedules, all right, in {seconds:.1} s: {rate:.2} million a second"
    );
    Ok(())
}
