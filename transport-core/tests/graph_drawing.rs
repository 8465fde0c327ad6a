//! The drawing of a graph, to the letter.

use std::sync::Arc;

use transport_core::graph::kernels::vector_add;
use transport_core::graph::{CaptureMode, DeviceBuffer, GraphError, HostBuffer, Stream};
use transport_core::{Transport, wait::block_on};
use transport_loopback::Threads;

#[test]
fn the_drawing_is_this_one() {
    let pe = Arc::new(Threads::new(1).heap_size(1 << 20).start().unwrap().remove(0));
    let stream = Stream::create(Arc::clone(&pe)).unwrap();
    let sym = block_on(pe.align::<i32>(4096, 16)).unwrap();
    let start = sym.offset();
    let (a, host) = (DeviceBuffer::<i32>::zeroed(32).unwrap(), HostBuffer::zeroed(16).unwrap());
    let other = DeviceBuffer::<i32>::zeroed(16).unwrap();
    let graph = stream
        .capture::<GraphError>(CaptureMode::Relaxed, |stream| {
            stream.launch_kernel(vector_add(&other, a.slice(16..)?, sym))?;
            stream.memcpy_async(sym, &other)?;
            stream.put_nbi(sym, sym, 0)?;
            stream.barrier_all()?;
            stream.memcpy_async(&host, sym)?;
            stream.launch_host_func(|| {})
        })
        .unwrap();
    let sym = format!("symmetric {start}..{} (64 B)", start + 64);
    let host_function = graph.nodes()[5].name();
    let nodes = format!(
        r#"digraph graph_capture {{
    node [shape=box];
    n0 [label="0: kernel vector_add\nreads device #0 64..128 (64 B)\nreads {sym}\nwrites device #1 0..64 (64 B)"];
    n1 [label="1: copy device to symmetric\nreads device #1 0..64 (64 B)\nwrites {sym}"];
    n2 [label="2: put_nbi to PE 0\nreads {sym}"];
    n3 [label="3: barrier_all"];
    n4 [label="4: copy symmetric to host\nreads {sym}\nwrites host #0 0..64 (64 B)"];
    n5 [label="5: host function {host_function}"];
    n0 -> n1;
    n1 -> n2;
    n2 -> n3;
    n3 -> n4;
    n4 -> n5;
"#
    );
    let data = "    n0 -> n1 [style=dashed, constraint=false];
    n1 -> n2 [style=dashed, constraint=false];
    n1 -> n4 [style=dashed, constraint=false];
";
    assert_eq!(graph.to_dot(), format!("{nodes}}}\n"));
    assert_eq!(graph.to_dot_with_data(), format!("{nodes}{data}}}\n"));
    assert!(host_function.contains("the_drawing_is_this_one"));
}
