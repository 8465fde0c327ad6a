//! Random programs of adds and copies, however they are run, against a model of memory.

#![allow(clippy::unwrap_used, reason = "a test fails by it, in its helpers too")]

use std::sync::Arc;

use proptest::prelude::*;
use transport_core::graph::kernels::vector_add;
use transport_core::graph::{
    CaptureMode, DeviceBuffer, GraphError, HostBuffer, InlineQueue, Operand, Stream,
};
use transport_core::{Transport, wait::block_on};
use transport_loopback::{Loopback, Threads};

/// Elements of each memory; a few tiles of `vector_add`.
const LEN: usize = 700;
/// Two device buffers, a host buffer, two symmetric allocations.
const MEMORIES: usize = 5;

#[derive(Debug, Clone, Copy)]
enum Step {
    Add { dst: (usize, usize), a: (usize, usize), b: (usize, usize), len: usize },
    Copy { dst: (usize, usize), src: (usize, usize), len: usize },
}

fn place() -> impl Strategy<Value = (usize, usize)> {
    (0..MEMORIES, 0..=LEN)
}

fn step() -> impl Strategy<Value = Step> {
    let len = prop_oneof![0..=8_usize, 0..=LEN];
    let fits = |places: &[(usize, usize)], len: usize| {
        let start = places.iter().map(|place| place.1).max().unwrap_or(0);
        len.min(LEN - start)
    };
    prop_oneof![
        (place(), place(), place(), len.clone()).prop_map(move |(dst, a, b, len)| Step::Add {
            dst,
            a,
            b,
            len: fits(&[dst, a, b], len)
        }),
        (place(), place(), len).prop_map(move |(dst, src, len)| Step::Copy {
            dst,
            src,
            len: fits(&[dst, src], len)
        }),
    ]
}

/// Overlapping in part, which is refused.
fn mixes(dst: (usize, usize), src: (usize, usize), len: usize) -> bool {
    dst.0 == src.0 && dst.1 != src.1 && dst.1.abs_diff(src.1) < len
}

/// The memory as it is to be after `step`; whether the step is allowed.
fn model(memory: &mut [Vec<u32>], step: Step) -> bool {
    match step {
        Step::Add { dst, a, b, len } => {
            if mixes(dst, a, len) || mixes(dst, b, len) {
                return false;
            }
            for i in 0..len {
                memory[dst.0][dst.1 + i] = memory[a.0][a.1 + i].wrapping_add(memory[b.0][b.1 + i]);
            }
        }
        Step::Copy { dst, src, len } => {
            if mixes(dst, src, len) {
                return false;
            }
            for i in 0..len {
                memory[dst.0][dst.1 + i] = memory[src.0][src.1 + i];
            }
        }
    }
    true
}

struct Memory {
    pe: Arc<Loopback>,
    device: [DeviceBuffer<u32>; 2],
    host: HostBuffer<u32>,
    symmetric: [transport_core::SymSlice<u32>; 2],
}

impl Memory {
    fn new(initial: &[Vec<u32>]) -> Result<Self, GraphError> {
        let pe = Arc::new(Threads::new(1).heap_size(1 << 16).start().unwrap().remove(0));
        let symmetric = [block_on(pe.alloc(LEN))?, block_on(pe.alloc(LEN))?];
        pe.heap().write(symmetric[0], &initial[3])?;
        pe.heap().write(symmetric[1], &initial[4])?;
        let device = [DeviceBuffer::from_slice(&initial[0])?, DeviceBuffer::from_slice(&initial[1])?];
        Ok(Self { pe, device, host: HostBuffer::from_slice(&initial[2])?, symmetric })
    }

    fn operand(&self, (memory, start): (usize, usize), len: usize) -> Result<Operand<u32>, GraphError> {
        let range = start..start + len;
        Ok(match memory {
            0 | 1 => self.device[memory].slice(range)?.into(),
            2 => self.host.slice(range)?.into(),
            _ => self.symmetric[memory - 3].slice(range)?.into(),
        })
    }

    fn enqueue(&self, stream: &Stream<Loopback>, step: Step) -> Result<(), GraphError> {
        match step {
            Step::Add { dst, a, b, len } => stream.launch_kernel(vector_add(
                self.operand(dst, len)?,
                self.operand(a, len)?,
                self.operand(b, len)?,
            )),
            Step::Copy { dst, src, len } => {
                stream.memcpy_async(self.operand(dst, len)?, self.operand(src, len)?)
            }
        }
    }

    fn read(&self) -> Result<Vec<Vec<u32>>, GraphError> {
        let heap = self.pe.heap();
        Ok(vec![
            self.device[0].read_vec(),
            self.device[1].read_vec(),
            self.host.read_vec(),
            heap.read_vec(self.symmetric[0])?,
            heap.read_vec(self.symmetric[1])?,
        ])
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn programs_do_to_memory_what_the_model_says(
        steps in prop::collection::vec(step(), 0..20),
        replays in 0..4_usize,
        seed in any::<u32>(),
    ) {
        let initial: Vec<Vec<u32>> = (0..MEMORIES as u32)
            .map(|m| (0..LEN as u32).map(|i| seed.wrapping_mul(i + 1).rotate_left(m * 5) ^ m).collect())
            .collect();
        let mut expected = initial.clone();
        let allowed: Vec<bool> = steps.iter().map(|step| model(&mut expected, *step)).collect();
        for _ in 0..replays {
            for step in &steps {
                model(&mut expected, *step);
            }
        }
        for way in ["host queue", "inline queue", "future"] {
            let memory = Memory::new(&initial).unwrap();
            let pe = Arc::clone(&memory.pe);
            let stream = match way {
                "inline queue" => Stream::with_queue(Arc::clone(&pe), InlineQueue::new(Arc::clone(&pe))),
                _ => Stream::create(Arc::clone(&pe)).unwrap(),
            };
            // Once enqueued directly, then captured and replayed.
            for (step, allowed) in steps.iter().zip(&allowed) {
                prop_assert_eq!(memory.enqueue(&stream, *step).is_ok(), *allowed, "{:?}", step);
            }
            stream.capture_begin(CaptureMode::ThreadLocal).unwrap();
            for (step, allowed) in steps.iter().zip(&allowed) {
                prop_assert_eq!(memory.enqueue(&stream, *step).is_ok(), *allowed, "{:?}", step);
            }
            let graph = stream.capture_end().unwrap();
            prop_assert_eq!(graph.len(), allowed.iter().filter(|allowed| **allowed).count());
            stream.synchronize().unwrap();
            for _ in 0..replays {
                match way {
                    "future" => block_on(graph.run(&*pe)).unwrap(),
                    _ => graph.launch(&stream).unwrap(),
                }
            }
            stream.synchronize().unwrap();
            prop_assert!(memory.read().unwrap() == expected, "by {}", way);
        }
    }
}
