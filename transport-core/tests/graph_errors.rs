//! What streams and graphs refuse, and what they say then.

#![allow(clippy::unwrap_used, reason = "a test fails by it, in its helpers too")]

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use transport_core::collectives::AllGatherAlgorithm::Auto;
use transport_core::graph::kernels::{Kernel, KernelContext, vector_add};
use transport_core::graph::{CaptureMode, DeviceBuffer, GraphError, InlineQueue, NodeKind, Stream};
use transport_core::{Error, Transport, wait::block_on};
use transport_loopback::{Loopback, Threads};

fn job(n: usize) -> Vec<Arc<Loopback>> {
    let pes = Threads::new(n).heap_size(1 << 20).timeout(Duration::from_millis(300)).start().unwrap();
    pes.into_iter().map(Arc::new).collect()
}

fn one() -> (Arc<Loopback>, Stream<Loopback>) {
    let pe = job(1).remove(0);
    (Arc::clone(&pe), Stream::create(pe).unwrap())
}

/// Both kinds of stream.
fn both() -> [Stream<Loopback>; 2] {
    let (pe, stream) = one();
    [stream, Stream::with_queue(Arc::clone(&pe), InlineQueue::new(pe))]
}

#[test]
fn waiting_in_a_capture_is_refused_and_says_what_to_do() {
    for stream in both() {
        for mode in [CaptureMode::Relaxed, CaptureMode::ThreadLocal] {
            stream.capture_begin(mode).unwrap();
            let error = stream.synchronize().unwrap_err();
            assert!(matches!(error, GraphError::InCapture { .. }));
            let text = error.to_string();
            assert!(text.contains("PE 0") && text.contains(stream.name()), "{text}");
            assert!(
                text.contains("call capture_end, launch the graph, and then Stream::synchronize"),
                "{text}"
            );
            assert!(matches!(block_on(stream.synchronize_async()), Err(GraphError::InCapture { .. })));
            assert!(stream.capture_end().unwrap().is_empty());
            stream.synchronize().unwrap();
        }
    }
}

#[test]
fn a_thread_local_capture_forbids_this_thread_to_block_and_no_other() {
    let (pe, stream) = one();
    let (_, elsewhere) = one();
    let inline = Stream::with_queue(Arc::clone(&pe), InlineQueue::new(Arc::clone(&pe)));
    let barrier = stream.capture::<GraphError>(CaptureMode::Relaxed, |stream| stream.barrier_all()).unwrap();
    stream.capture_begin(CaptureMode::ThreadLocal).unwrap();
    assert!(matches!(block_on(pe.barrier_all()), Err(Error::BlockingInCapture { op: "barrier_all", .. })));
    assert!(matches!(block_on(pe.alloc::<u8>(1)), Err(Error::BlockingInCapture { .. })));
    let refused = |result| matches!(result, Err(GraphError::Transport(Error::BlockingInCapture { .. })));
    assert!(refused(elsewhere.synchronize()));
    assert!(refused(block_on(elsewhere.synchronize_async())));
    assert!(refused(block_on(barrier.run(&*pe))));
    assert!(refused(inline.quiet()));
    std::thread::scope(|scope| {
        scope.spawn(|| block_on(pe.barrier_all()).unwrap()).join().unwrap();
        // Another thread records as well.
        scope.spawn(|| stream.quiet().unwrap()).join().unwrap();
    });
    assert_eq!(stream.capture_end().unwrap().len(), 1);
    block_on(pe.barrier_all()).unwrap();
    inline.quiet().unwrap();
    inline.synchronize().unwrap();
    stream.capture_begin(CaptureMode::Relaxed).unwrap();
    block_on(pe.barrier_all()).unwrap();
    stream.capture_end().unwrap();
}

#[test]
fn captures_do_not_nest_and_end_where_they_began() {
    let (pe, stream) = one();
    let error = stream.capture_end().unwrap_err();
    assert!(error.to_string().contains("is in no capture; call capture_begin"), "{error}");
    stream.capture_begin(CaptureMode::ThreadLocal).unwrap();
    for mode in [CaptureMode::ThreadLocal, CaptureMode::Relaxed] {
        let error = stream.capture_begin(mode).unwrap_err();
        assert!(matches!(error, GraphError::NestedCapture { .. }));
        assert!(error.to_string().contains("launch it in the capture"), "{error}");
    }
    std::thread::scope(|scope| {
        let error = scope.spawn(|| stream.capture_end().unwrap_err()).join().unwrap();
        assert!(matches!(error, GraphError::OtherThread { .. }));
        assert!(error.to_string().contains("captures_do_not_nest"), "{error}");
    });
    assert!(stream.is_capturing());
    stream.capture_end().unwrap();
    block_on(pe.barrier_all()).unwrap();
    stream.capture_begin(CaptureMode::Relaxed).unwrap();
    std::thread::scope(|scope| scope.spawn(|| stream.capture_end().map(drop).unwrap()).join().unwrap());
}

#[test]
fn a_stream_dropped_in_a_capture_frees_the_thread() {
    let (pe, stream) = one();
    stream.capture_begin(CaptureMode::ThreadLocal).unwrap();
    assert!(block_on(pe.barrier_all()).is_err());
    drop(stream);
    block_on(pe.barrier_all()).unwrap();
}

#[test]
fn a_capture_whose_recording_fails_or_panics_has_ended() {
    let (pe, stream) = one();
    let failed = stream
        .capture(CaptureMode::ThreadLocal, |_| Err(GraphError::from(Error::backend("x", std::fmt::Error))));
    assert!(failed.is_err() && !stream.is_capturing());
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        stream.capture::<GraphError>(CaptureMode::ThreadLocal, |_| panic!("on purpose"))
    }));
    assert!(panicked.is_err() && !stream.is_capturing());
    block_on(pe.barrier_all()).unwrap();
}

#[test]
fn a_bad_argument_enqueues_and_records_nothing() {
    let (pe, stream) = one();
    let other_job = block_on(job(1)[0].alloc::<u8>(8)).unwrap();
    let (sym, gone) = (block_on(pe.alloc::<u8>(8)).unwrap(), block_on(pe.alloc::<u8>(8)).unwrap());
    block_on(pe.free(gone)).unwrap();
    let a = DeviceBuffer::<u8>::zeroed(8).unwrap();
    let short = a.slice(1..).unwrap();
    let shifted = (a.slice(1..).unwrap(), a.slice(..7).unwrap());
    let refused = |stream: &Stream<Loopback>| {
        let texts = [
            (stream.memcpy_async(&a, &short), "destination holds 8 bytes, source 7"),
            (stream.memcpy_async(&shifted.0, &shifted.1), "overlap"),
            (stream.memcpy_async(sym.slice(1..).unwrap(), sym.slice(..7).unwrap()), "overlap"),
            (stream.memcpy_async(&a, gone), "the source at heap offset"),
            (stream.memcpy_async(gone, &a), "the destination at heap offset"),
            (stream.memcpy_async(&a, other_job), "belongs to another job"),
            (stream.launch_kernel(vector_add(&a, &a, &short)), "vector_add on PE 0: destination holds 8"),
            (stream.launch_kernel(vector_add(&shifted.0, &short, &shifted.1)), "overlap"),
            (stream.launch_kernel(vector_add(&a, gone, &a)), "no live allocation"),
            (stream.launch_kernel(vector_add(gone, &a, &a)), "no live allocation"),
            (stream.put_nbi(sym, sym, 1), "PE 1 does not exist"),
            (stream.put_nbi(sym, sym.slice(1..).unwrap(), 0), "destination holds 8 bytes, source 7"),
            (stream.put_nbi(sym.slice(1..).unwrap(), sym.slice(..7).unwrap(), 0), "overlap"),
            (stream.put_nbi(gone, sym, 0), "no live allocation"),
            (stream.put_nbi(sym, gone, 0), "no live allocation"),
            (stream.all_gather(sym, sym.slice(1..).unwrap(), Auto), "all_gather on PE 0"),
            (stream.all_gather_in_place(gone, Auto), "no live allocation"),
        ];
        for (index, (result, text)) in texts.into_iter().enumerate() {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(text), "{index}: {error}");
        }
    };
    refused(&stream);
    stream.capture_begin(CaptureMode::Relaxed).unwrap();
    refused(&stream);
    stream.quiet().unwrap();
    refused(&stream);
    assert_eq!(stream.capture_end().unwrap().len(), 1);
    stream.synchronize().unwrap();
}

#[test]
fn memory_freed_after_the_capture_is_found_at_the_launch() {
    for stream in both() {
        let pe = Arc::clone(stream.transport());
        let (sym, a) = (block_on(pe.alloc::<u8>(8)).unwrap(), DeviceBuffer::<u8>::zeroed(8).unwrap());
        for kind in [NodeKind::Copy, NodeKind::Kernel] {
            let stream = match kind {
                NodeKind::Copy => &stream,
                _ => &Stream::create(Arc::clone(&pe)).unwrap(),
            };
            let sym = if kind == NodeKind::Copy { sym } else { block_on(pe.alloc::<u8>(8)).unwrap() };
            let graph = stream
                .capture::<GraphError>(CaptureMode::Relaxed, |stream| {
                    stream.quiet()?;
                    match kind {
                        NodeKind::Copy => stream.memcpy_async(&a, sym),
                        _ => stream.launch_kernel(vector_add(&a, sym, &a)),
                    }
                })
                .unwrap();
            graph.launch(stream).unwrap();
            stream.synchronize().unwrap();
            block_on(pe.free(sym)).unwrap();
            graph.launch(stream).unwrap();
            let error = stream.synchronize().unwrap_err();
            assert!(error.to_string().contains(&format!("node 1 of 2 ({kind} ")), "{error}");
            assert!(error.to_string().contains("no live allocation"), "{error}");
            let error = block_on(graph.run(&*pe)).unwrap_err();
            assert!(matches!(error, GraphError::NodeFailed { node: 1, of: 2, .. }), "{error}");
        }
    }
}

#[test]
fn after_a_failure_every_call_says_so_and_nothing_runs() {
    for stream in both() {
        let a = DeviceBuffer::from_slice(&[1_u8]).unwrap();
        let graph = stream
            .capture::<GraphError>(CaptureMode::Relaxed, |stream| {
                stream.launch_kernel(vector_add(&a, &a, &a))?;
                stream.launch_host_func(|| panic!("on purpose, {}", 7))?;
                stream.launch_kernel(vector_add(&a, &a, &a))
            })
            .unwrap();
        stream.quiet().unwrap();
        graph.launch(&stream).unwrap();
        // May be refused already, or skipped.
        let _ = stream.launch_kernel(vector_add(&a, &a, &a));
        let error = stream.synchronize().unwrap_err();
        let text = error.to_string();
        let said = [
            "Stream::synchronize on PE 0: stream ",
            "is in error since its work 2: PE 0: node 1 of 3 (host function ",
            "failed: it panicked: on purpose, 7",
            "drop the stream and create a new one",
        ];
        assert!(said.iter().all(|part| text.contains(part)), "{text}");
        assert_eq!(a.read_vec(), [2]);
        let GraphError::StreamFailed { cause, .. } = error else { panic!("{error}") };
        let GraphError::NodeFailed { node: 1, of: 3, kind: NodeKind::HostFunction, .. } = &*cause else {
            panic!("{cause}")
        };
        let results = [
            graph.launch(&stream),
            stream.quiet(),
            stream.memcpy_async(&a, &a),
            stream.launch_host_func(|| ()),
            stream.capture_begin(CaptureMode::ThreadLocal),
            stream.synchronize(),
            block_on(stream.synchronize_async()),
        ];
        for (index, result) in results.into_iter().enumerate() {
            assert!(matches!(result, Err(GraphError::StreamFailed { work: 2, .. })), "{index}");
        }
    }
}

#[test]
fn a_failure_during_a_capture_ends_it_with_the_failure() {
    let (pe, stream) = one();
    let (go, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    stream
        .launch_host_func(move || {
            gate.lock().unwrap().recv().unwrap();
            panic!("late")
        })
        .unwrap();
    stream.capture_begin(CaptureMode::ThreadLocal).unwrap();
    stream.quiet().unwrap();
    go.send(()).unwrap();
    while stream.quiet().is_ok() {
        std::thread::yield_now();
    }
    assert!(matches!(stream.capture_end(), Err(GraphError::StreamFailed { op: "Stream::capture_end", .. })));
    assert!(!stream.is_capturing());
    block_on(pe.barrier_all()).unwrap();
}

#[test]
fn a_kernel_that_fails_or_panics_is_named() {
    struct Bad(bool);
    impl Kernel for Bad {
        fn name(&self) -> &str {
            "bad"
        }
        fn run(&self, ctx: &KernelContext<'_>) -> Result<(), GraphError> {
            assert!(!self.0, "kernel on purpose");
            let buffer = DeviceBuffer::<u8>::zeroed(2)?;
            ctx.open(&(&buffer).into())?.write(1, &[1, 2])
        }
    }
    for (panics, text) in
        [(false, "kernel: 1..3 is no part of the 2"), (true, "it panicked: kernel on purpose")]
    {
        for stream in both() {
            stream.launch_kernel(Arc::new(Bad(panics))).unwrap();
            let error = stream.synchronize().unwrap_err().to_string();
            assert!(error.contains("node 0 of 1 (kernel bad)") && error.contains(text), "{error}");
        }
    }
}

#[test]
fn a_peer_that_does_not_come_is_named_at_the_deadline() {
    let pes = job(2);
    let stream = Stream::create(Arc::clone(&pes[0])).unwrap();
    stream.barrier_all().unwrap();
    let error = stream.synchronize().unwrap_err().to_string();
    assert!(error.contains("node 0 of 1 (barrier_all ") && error.contains("PE 1"), "{error}");
}

#[test]
fn a_graph_of_another_pe_is_refused() {
    let pes = job(2);
    let streams: Vec<_> = pes.iter().map(|pe| Stream::create(Arc::clone(pe)).unwrap()).collect();
    let graph = streams[0].capture::<GraphError>(CaptureMode::Relaxed, |stream| stream.quiet()).unwrap();
    let error = graph.launch(&streams[1]).unwrap_err();
    assert!(matches!(error, GraphError::OtherPe { .. }));
    assert!(error.to_string().contains("captured on PE 0 of 2 and cannot run on PE 1 of 2"), "{error}");
    assert!(matches!(block_on(graph.run(&*pes[1])), Err(GraphError::OtherPe { .. })));
    streams[1].synchronize().unwrap();
}

#[test]
fn the_work_of_a_stream_cannot_wait_for_it_but_can_add_to_it() {
    let (pe, _) = one();
    let streams =
        [Stream::create(Arc::clone(&pe)).unwrap(), Stream::with_queue(Arc::clone(&pe), InlineQueue::new(pe))];
    for (index, stream) in streams.into_iter().enumerate() {
        let stream = Arc::new(stream);
        let (told, heard) = mpsc::channel();
        let (mine, told) = (Arc::downgrade(&stream), Mutex::new(told));
        stream
            .launch_host_func(move || {
                let stream = mine.upgrade().unwrap();
                let waited = [stream.synchronize(), block_on(stream.synchronize_async())];
                told.lock().unwrap().send((waited, stream.quiet())).unwrap();
            })
            .unwrap();
        let (waited, enqueued) = heard.recv().unwrap();
        for waited in waited {
            assert!(matches!(waited, Err(GraphError::OnStreamThread { .. })), "{waited:?}");
        }
        // Inline, there is nothing between: work in work is refused.
        assert_eq!(enqueued.is_ok(), index == 0);
        stream.synchronize().unwrap();
    }
}

#[test]
fn work_that_hangs_is_reported_and_does_not_hold_up_a_drop_for_ever() {
    let (_, stream) = one();
    let (go, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    stream.quiet().unwrap();
    stream.launch_host_func(move || _ = gate.lock().unwrap().recv()).unwrap();
    let error = stream.synchronize().unwrap_err();
    assert!(matches!(error, GraphError::Stalled { work: 2, node: 0, .. }), "{error}");
    assert!(error.to_string().contains("SHMEM_TIMEOUT"));
    drop(stream);
    drop(go);
}

#[test]
fn errors_are_small_and_mix_with_those_of_the_core() {
    const { assert!(size_of::<GraphError>() <= 128) };
    let (_, stream) = one();
    let mixed = || -> transport_core::Result<()> {
        stream.quiet()?;
        Ok(stream.capture_end().map(drop)?)
    };
    let error = mixed().unwrap_err();
    assert!(error.to_string().starts_with("graph: capture_end on PE 0"), "{error}");
    let back: Error = GraphError::from(Error::Finalized { op: "x", my_pe: 1 }).into();
    assert!(matches!(back, Error::Finalized { .. }));
}
