//! Streams and graphs do what they say: order, capture, replay, drawing.

#![allow(clippy::unwrap_used, reason = "a test fails by it, in its helpers too")]

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use transport_core::collectives::AllGatherAlgorithm::{Auto, Textbook};
use transport_core::graph::kernels::vector_add;
use transport_core::graph::{
    CaptureMode, DeviceBuffer, Graph, GraphError, HostBuffer, InlineQueue, NodeKind, Stream,
};
use transport_core::{AnyTransport, DynTransport, Transport, wait::block_on};
use transport_loopback::{Loopback, Threads};

fn one() -> Arc<Loopback> {
    Arc::new(Threads::new(1).heap_size(1 << 20).start().unwrap().remove(0))
}

/// Runs `job` on every PE of `n`, each on a thread.
fn on_all_kept<R: Send>(
    n: usize,
    job: impl Fn(&Arc<Loopback>) -> Result<R, GraphError> + Sync,
) -> Vec<(Arc<Loopback>, R)> {
    let pes = Threads::new(n).heap_size(1 << 20).timeout(Duration::from_secs(20)).start().unwrap();
    let run = |pe: Loopback| {
        let pe = Arc::new(pe);
        let result = job(&pe).unwrap();
        (pe, result)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = pes.into_iter().map(|pe| scope.spawn(|| run(pe))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// As `on_all_kept`; the job is over then.
fn on_all<R: Send>(n: usize, job: impl Fn(&Arc<Loopback>) -> Result<R, GraphError> + Sync) -> Vec<R> {
    on_all_kept(n, job).into_iter().map(|(_, result)| result).collect()
}

#[test]
fn work_runs_in_order_and_apart_from_the_caller() {
    let stream = Stream::create(one()).unwrap();
    let (go, gate) = mpsc::channel::<()>();
    let (gate, order) = (Mutex::new(gate), Arc::new(Mutex::new(Vec::new())));
    stream.launch_host_func(move || gate.lock().unwrap().recv().unwrap()).unwrap();
    for i in 0..3000 {
        let order = Arc::clone(&order);
        stream.launch_host_func(move || order.lock().unwrap().push(i)).unwrap();
    }
    // All has been enqueued, more than the queue was made for, while the first still waits for us.
    assert!(order.lock().unwrap().is_empty());
    go.send(()).unwrap();
    stream.synchronize().unwrap();
    assert!(order.lock().unwrap().iter().copied().eq(0..3000));
}

#[test]
fn dropping_a_stream_waits_for_its_work() {
    let stream = Stream::create(one()).unwrap();
    let ran = Arc::new(AtomicUsize::new(0));
    for _ in 0..5 {
        let ran = Arc::clone(&ran);
        stream
            .launch_host_func(move || {
                std::thread::sleep(Duration::from_millis(5));
                ran.fetch_add(1, Ordering::Relaxed);
            })
            .unwrap();
    }
    drop(stream);
    assert_eq!(ran.load(Ordering::Relaxed), 5);
}

#[test]
fn a_stream_dropped_by_its_own_work_does_not_wait_for_itself() {
    let (told, done) = mpsc::channel();
    let stream = Arc::new(Stream::create(one()).unwrap());
    let (mine, told) = (Mutex::new(Some(Arc::clone(&stream))), Mutex::new(told));
    let (go, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    stream
        .launch_host_func(move || {
            gate.lock().unwrap().recv().unwrap();
            drop(mine.lock().unwrap().take());
            told.lock().unwrap().send(()).unwrap();
        })
        .unwrap();
    drop(stream);
    go.send(()).unwrap();
    done.recv_timeout(Duration::from_secs(10)).unwrap();
}

#[test]
fn a_capture_runs_nothing_and_each_launch_advances_memory() {
    let stream = Stream::create(one()).unwrap();
    let (a, b) =
        (DeviceBuffer::from_slice(&[1_u32, 10]).unwrap(), DeviceBuffer::from_slice(&[2, 3]).unwrap());
    let calls = Arc::new(AtomicUsize::new(0));
    for mode in [CaptureMode::Relaxed, CaptureMode::ThreadLocal] {
        a.write(&[1, 10]).unwrap();
        calls.store(0, Ordering::Relaxed);
        stream.capture_begin(mode).unwrap();
        assert!(stream.is_capturing());
        let counted = Arc::clone(&calls);
        stream.launch_kernel(vector_add(&a, &a, &b)).unwrap();
        stream.launch_host_func(move || _ = counted.fetch_add(1, Ordering::Relaxed)).unwrap();
        let graph = stream.capture_end().unwrap();
        assert!(!stream.is_capturing());
        stream.synchronize().unwrap();
        assert_eq!((a.read_vec(), calls.load(Ordering::Relaxed)), (vec![1, 10], 0));
        for round in 1..=5 {
            graph.launch(&stream).unwrap();
            graph.clone().launch(&stream).unwrap();
            stream.synchronize().unwrap();
            assert_eq!(a.read_vec(), [1 + 4 * round, 10 + 6 * round]);
        }
        assert_eq!(calls.load(Ordering::Relaxed), 10);
    }
}

#[test]
fn a_graph_keeps_what_it_uses_alive() {
    let stream = Stream::create(one()).unwrap();
    let out = HostBuffer::<u8>::zeroed(3).unwrap();
    let graph = stream
        .capture::<GraphError>(CaptureMode::Relaxed, |stream| {
            stream.memcpy_async(&out, DeviceBuffer::from_slice(&[7, 8, 9])?)
        })
        .unwrap();
    graph.launch(&stream).unwrap();
    drop(graph);
    stream.synchronize().unwrap();
    assert_eq!(out.read_vec(), [7, 8, 9]);
}

#[test]
fn a_graph_in_a_capture_and_on_other_streams() {
    let pe = one();
    let stream = Stream::create(Arc::clone(&pe)).unwrap();
    let a = DeviceBuffer::from_slice(&[1_i64]).unwrap();
    let double = stream
        .capture::<GraphError>(CaptureMode::Relaxed, |s| s.launch_kernel(vector_add(&a, &a, &a)))
        .unwrap();
    let outer = stream
        .capture::<GraphError>(CaptureMode::ThreadLocal, |s| {
            double.launch(s)?;
            s.quiet()?;
            double.launch(s)
        })
        .unwrap();
    assert_eq!(outer.len(), 3);
    let inline = Stream::with_queue(Arc::clone(&pe), InlineQueue::new(Arc::clone(&pe)));
    outer.launch(&inline).unwrap();
    assert_eq!(a.read_vec(), [4]);
    outer.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    block_on(double.run(&*pe)).unwrap();
    assert_eq!(a.read_vec(), [32]);
    let empty = stream.capture::<GraphError>(CaptureMode::Relaxed, |_| Ok(())).unwrap();
    assert!(empty.is_empty());
    empty.launch(&stream).unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn copies_go_between_all_memories_and_no_element_is_fine() {
    let pe = one();
    let stream = Stream::create(Arc::clone(&pe)).unwrap();
    let (sym, two) = (block_on(pe.calloc::<u16>(5)).unwrap(), block_on(pe.calloc::<u16>(5)).unwrap());
    let device = DeviceBuffer::zeroed(5).unwrap();
    let host = HostBuffer::from_slice(&[1, 2, 3, 4, 5]).unwrap();
    let back = HostBuffer::zeroed(5).unwrap();
    stream.memcpy_async(sym, &host).unwrap();
    stream.memcpy_async(two, sym).unwrap();
    stream.memcpy_async(&device, two).unwrap();
    stream.memcpy_async(&device, &device).unwrap();
    stream.memcpy_async(device.slice(..2).unwrap(), device.slice(3..).unwrap()).unwrap();
    stream.memcpy_async(&back, &device).unwrap();
    stream.memcpy_async(back.slice(1..1).unwrap(), sym.slice(5..).unwrap()).unwrap();
    stream
        .launch_kernel(vector_add(
            device.slice(..0).unwrap(),
            sym.slice(..0).unwrap(),
            host.slice(..0).unwrap(),
        ))
        .unwrap();
    stream.put_nbi(sym.slice(..0).unwrap(), two.slice(..0).unwrap(), 0).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(back.read_vec(), [4, 5, 3, 4, 5]);
}

#[test]
fn vector_add_adds_every_length_and_type() {
    let stream = Stream::create(one()).unwrap();
    for len in [0, 1, 3, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 5000] {
        let a: Vec<i32> = (0..len).map(|i| i32::MAX - i).collect();
        let b: Vec<i32> = (0..len).map(|i| 3 * i).collect();
        let (x, y) = (DeviceBuffer::from_slice(&a).unwrap(), DeviceBuffer::from_slice(&b).unwrap());
        let sum = HostBuffer::zeroed(len as usize).unwrap();
        stream.launch_kernel(vector_add(&sum, &x, &y)).unwrap();
        stream.launch_kernel(vector_add(&x, &x, &x)).unwrap();
        stream.synchronize().unwrap();
        assert!(sum.read_vec().into_iter().eq(a.iter().zip(&b).map(|(a, b)| a.wrapping_add(*b))), "{len}");
        assert!(x.read_vec().into_iter().eq(a.iter().map(|a| a.wrapping_mul(2))), "{len} in place");
    }
    let (x, y) = (
        DeviceBuffer::from_slice(&[0.5_f64, -1.0]).unwrap(),
        DeviceBuffer::from_slice(&[0.25, f64::INFINITY]).unwrap(),
    );
    stream.launch_kernel(vector_add(&y, &x, &y)).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(y.read_vec(), [0.75, f64::INFINITY]);
}

/// add, copy, two AllGathers, add: as the reference has it.
fn reference_job<X: Transport>(stream: &Stream<X>) -> Result<(Graph, HostBuffer<i32>), GraphError> {
    const EACH: usize = 16;
    let pe = stream.transport();
    let (me, n, own) = (pe.my_pe(), pe.n_pes(), 10 + pe.my_pe() as i32);
    let (a, b) = block_on(async {
        Ok::<_, GraphError>((pe.calloc::<i32>(n * EACH).await?, pe.calloc::<i32>(n * EACH).await?))
    })?;
    pe.heap().fill(a.part(me, n)?, own)?;
    pe.heap().fill(b.part(me, n)?, own)?;
    let (add, temp) = (DeviceBuffer::zeroed(n * EACH)?, DeviceBuffer::zeroed(n * EACH)?);
    add.slice(me * EACH..(me + 1) * EACH)?.fill(own);
    let sum = HostBuffer::zeroed(n * EACH)?;
    let graph = stream.capture(CaptureMode::ThreadLocal, |stream| {
        stream.launch_kernel(vector_add(&temp, a, &add))?;
        stream.memcpy_async(a, &temp)?;
        stream.all_gather_in_place(a, Auto)?;
        stream.all_gather_in_place(b, Textbook)?;
        stream.launch_kernel(vector_add(&sum, a, b))
    })?;
    Ok((graph, sum))
}

fn expected(n: usize, round: usize) -> Vec<i32> {
    (0..n).flat_map(|pe| [((10 + pe) * (3 + round)) as i32; 16]).collect()
}

#[test]
fn the_reference_job_runs_on_any_number_of_pes_however_it_is_run() {
    for n in [1, 2, 3, 5, 8] {
        on_all(n, |pe| {
            let stream = Stream::create(Arc::clone(pe))?;
            let inline = Stream::with_queue(Arc::clone(pe), InlineQueue::new(Arc::clone(pe)));
            let (graph, sum) = reference_job(&stream)?;
            for round in 0..6 {
                match round % 3 {
                    0 => {
                        graph.launch(&stream)?;
                        stream.synchronize()?;
                    }
                    1 => block_on(graph.run(&**pe))?,
                    _ => graph.launch(&inline)?,
                }
                assert_eq!(sum.read_vec(), expected(n, round), "PE {} of {n}, round {round}", pe.my_pe());
            }
            Ok(())
        });
    }
}

#[test]
fn one_thread_runs_the_graphs_of_all_pes_as_futures() {
    let jobs = on_all_kept(2, |pe| {
        let stream = Stream::create(Arc::clone(pe))?;
        reference_job(&stream)
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let [(a, (graph_a, sum_a)), (b, (graph_b, sum_b))] = &jobs[..] else { panic!("two PEs") };
        for round in 0..20 {
            let (first, second) = tokio::join!(graph_a.run(&**a), graph_b.run(&**b));
            first.and(second).unwrap();
            assert_eq!((sum_a.read_vec(), sum_b.read_vec()), (expected(2, round), expected(2, round)));
        }
    });
}

#[test]
fn a_backend_chosen_at_run_time_runs_it_too() {
    on_all(2, |pe| {
        let pe = Arc::new(AnyTransport::new(Arc::clone(pe) as Arc<dyn DynTransport>));
        let stream = Stream::create(Arc::clone(&pe))?;
        let (graph, sum) = reference_job(&stream)?;
        graph.launch(&stream)?;
        graph.launch(&stream)?;
        stream.synchronize()?;
        assert_eq!(sum.read_vec(), expected(2, 1));
        Ok(())
    });
}

#[test]
fn puts_quiet_and_barrier_are_nodes() {
    let got = on_all(3, |pe| {
        let (me, n) = (pe.my_pe(), pe.n_pes());
        let all = block_on(pe.calloc::<u64>(n))?;
        let mine = all.part(me, n)?;
        let stream = Stream::create(Arc::clone(pe))?;
        let step = DeviceBuffer::from_slice(&[me as u64 + 1])?;
        let graph = stream.capture::<GraphError>(CaptureMode::ThreadLocal, |stream| {
            stream.launch_kernel(vector_add(mine, mine, &step))?;
            for peer in 0..n {
                stream.put_nbi(mine, mine, peer)?;
            }
            stream.quiet()?;
            stream.barrier_all()
        })?;
        for _ in 0..10 {
            graph.launch(&stream)?;
        }
        stream.synchronize()?;
        Ok(pe.heap().read_vec(all)?)
    });
    assert_eq!(got, [[10, 20, 30], [10, 20, 30], [10, 20, 30]]);
}

#[test]
fn synchronize_async_works_under_block_on_and_tokio_and_can_be_cancelled() {
    let stream = Stream::create(one()).unwrap();
    let seen = Arc::new(AtomicU64::new(0));
    // Each ends when it is told to.
    let enqueue = || {
        let ((go, gate), seen) = (mpsc::channel::<()>(), Arc::clone(&seen));
        let gate = Mutex::new(gate);
        let slow = move || {
            gate.lock().unwrap().recv().unwrap();
            seen.fetch_add(1, Ordering::Relaxed);
        };
        stream.launch_host_func(slow).unwrap();
        go
    };
    block_on(stream.synchronize_async()).unwrap();
    let go = enqueue();
    let waits = stream.synchronize_async();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(10));
            go.send(()).unwrap();
        });
        block_on(waits).unwrap();
    });
    assert_eq!(seen.load(Ordering::Relaxed), 1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let first = enqueue();
        let given_up = tokio::time::timeout(Duration::from_millis(1), stream.synchronize_async()).await;
        assert!(given_up.is_err());
        let second = enqueue();
        let tell = async {
            tokio::time::sleep(Duration::from_millis(2)).await;
            first.send(()).and_then(|()| second.send(())).unwrap();
        };
        let (a, b, ()) = tokio::join!(stream.synchronize_async(), stream.synchronize_async(), tell);
        a.and(b).unwrap();
        assert_eq!(seen.load(Ordering::Relaxed), 3);
    });
}

#[test]
fn nodes_say_what_they_are() {
    let stream = Stream::create(one()).unwrap();
    let (graph, _) = reference_job(&stream).unwrap();
    let kinds: Vec<_> = graph.nodes().iter().map(|node| (node.kind(), node.name())).collect();
    let expected = [
        (NodeKind::Kernel, "vector_add"),
        (NodeKind::Copy, "device to symmetric"),
        (NodeKind::AllGather, "textbook"),
        (NodeKind::AllGather, "textbook"),
        (NodeKind::Kernel, "vector_add"),
    ];
    // The first AllGather takes what `auto` chooses.
    for (index, (kind, name)) in expected.into_iter().enumerate() {
        assert_eq!(kinds[index].0, kind);
        assert!(index == 2 || kinds[index].1 == name, "{kinds:?}");
    }
    assert_eq!((graph.nodes()[0].reads()[1].byte_len(), graph.nodes()[2].writes()[0].len()), (64, 64));
}
