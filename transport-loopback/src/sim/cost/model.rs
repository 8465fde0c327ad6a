//! What messages cost.

use std::fmt;
use std::sync::Arc;

/// What a way from one PE to another costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// From when a byte leaves until it is at the other NIC, in nanoseconds.
    pub latency_ns: u64,
    /// The time of each byte, in picoseconds: 80 for 100 Gbit/s.
    pub per_byte_ps: u64,
}

/// What messages cost: the parameters of LogGP, with those of puts besides.
///
/// ```
/// use transport_core::Transport;
/// use transport_loopback::sim::{CostModel, Link, Sim};
///
/// // 4 PEs a node; from node to node it takes longer.
/// let near = Link { latency_ns: 200, per_byte_ps: 100 };
/// let model = CostModel::roce().nodes(4, near);
/// let predicted = Sim::new(8).predict(&model, |pe| async move {
///     pe.begin().await;
///     pe.barrier_all().await?;
///     pe.phase("end");
///     pe.finalize().await
/// })?;
/// let barrier = predicted.phase("start").ok_or("no such phase")?;
/// // A chain of PEs whose second and third flags cross between nodes.
/// assert_eq!((barrier.messages, barrier.time_ns()), (8 * 3, (100 + 200) + 2 * (100 + 700)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct CostModel {
    /// Of every pair of PEs, unless [`links`](Self::links) says otherwise.
    pub link: Link,
    /// What a message costs the PE that sends it, in nanoseconds.
    pub overhead_ns: u64,
    /// What a flag, a signal or an answer costs the PE that takes it, in nanoseconds.
    pub receive_overhead_ns: u64,
    /// What a message occupies a NIC for beside its bytes, in nanoseconds: 10 for 100 million messages a second.
    pub gap_ns: u64,
    /// From when data has landed until its sender's `quiet` knows it, in nanoseconds.
    pub acknowledge_ns: u64,
    /// The time of each byte that a PE puts to itself, in picoseconds.
    pub copy_per_byte_ps: u64,
    /// As in shared memory: the PE's own processor copies the bytes of a put, and then the put is complete.
    ///
    /// The bytes cost the PE their time beside the overhead, and no NIC: no gap, and puts do not wait for each other. `quiet`
    /// costs nothing; the target sees the put after the latency. Gets and atomics are the PE's work alone.
    pub complete_at_post: bool,
    /// The processors that the PEs of a node share; 0: one for each PE. See [`cores`](Self::cores).
    pub cores: usize,
    /// What it costs a processor to go over to another PE, in nanoseconds.
    pub switch_ns: u64,
    /// PEs of a node, as [`nodes`](Self::nodes) says; 0: all are on one.
    pub pes_per_node: usize,
    /// The links of pairs that have their own: see [`links`](Self::links).
    pub links: Links,
}

/// A function of `(from, to)`, or none.
#[derive(Clone, Default)]
pub struct Links(Option<Function>);

type Function = Arc<dyn Fn(usize, usize) -> Link + Send + Sync>;

/// Picoseconds.
pub(super) fn ps(nanoseconds: u64) -> u64 {
    nanoseconds.saturating_mul(1000)
}

impl CostModel {
    /// Where nothing costs anything, to set what does.
    #[must_use]
    pub fn free() -> Self {
        Self {
            link: Link { latency_ns: 0, per_byte_ps: 0 },
            overhead_ns: 0,
            receive_overhead_ns: 0,
            gap_ns: 0,
            acknowledge_ns: 0,
            copy_per_byte_ps: 0,
            complete_at_post: false,
            cores: 0,
            switch_ns: 0,
            pes_per_node: 0,
            links: Links::default(),
        }
    }

    /// Shared memory between processes of one host, a processor for each unless [`cores`](Self::cores) says otherwise.
    ///
    /// What `model fit` made of `perf` on the loopback backend, on a virtual machine of two processors that had other work too:
    /// the shortest times of several runs, of `put`, `get`, `stream`, `ping-pong` by 2 PEs, of barriers and AllGathers
    /// (textbook) by 2 to 64. The time of a byte lies between one in the first cache (10 ps, 4 KiB) and one in the second (24 ps,
    /// 64 KiB). The fence of a `quiet`, some 20 ns, is left out. A switch took 1.1 us with 4 PEs on a processor and 2 us or more
    /// with 8 and up, since their data no longer fits its caches: one figure for all is too much for few PEs and too little for
    /// many. Measure your own host on its own, and take what `model fit` finds.
    #[must_use]
    pub fn shared_memory() -> Self {
        Self {
            link: Link { latency_ns: 135, per_byte_ps: 15 },
            overhead_ns: 6,
            copy_per_byte_ps: 15,
            complete_at_post: true,
            switch_ns: 1350,
            ..Self::free()
        }
    }

    /// A NIC with RoCE of 100 Gbit/s, near its peers.
    ///
    /// Not measured here. The line rate gives 80 ps a byte. Overhead and latency together are the 0.8 us that perftest's latency
    /// programs say for small messages over reliable connections of such a NIC (0.82 us for 32 bytes in D. Potter's master's
    /// thesis, table of `ib_send_lat`); 100 ns of it, for building a work request and ringing the doorbell, are an estimate. An
    /// acknowledgement takes the way back. The gap is that of 40 million messages a second, the order of one connection's rate:
    /// an estimate too. Take your own with `model fit`.
    #[must_use]
    pub fn roce() -> Self {
        Self {
            link: Link { latency_ns: 700, per_byte_ps: 80 },
            overhead_ns: 100,
            gap_ns: 25,
            acknowledge_ns: 700,
            copy_per_byte_ps: 100,
            ..Self::free()
        }
    }

    /// Each pair of PEs has the link that `link_of(from, to)` says. It must answer the same each time.
    #[must_use]
    pub fn links(mut self, link_of: impl Fn(usize, usize) -> Link + Send + Sync + 'static) -> Self {
        self.links = Links(Some(Arc::new(link_of)));
        self
    }

    /// PEs `0..per_node` are on one node, the next as many on another, and so on: `within` links those of one node.
    #[must_use]
    pub fn nodes(mut self, per_node: usize, within: Link) -> Self {
        let (per_node, between) = (per_node.max(1), self.link);
        self.pes_per_node = per_node;
        self.links(move |from, to| if from / per_node == to / per_node { within } else { between })
    }

    /// The PEs of a node share `cores` processors. Going over to another PE costs a processor `switch_ns`.
    ///
    /// What a PE does itself needs a processor: overheads, and the bytes that it copies. It gives it up when it waits, and takes
    /// one again when it can go on: who can go on first, first. It takes the one that it had before if that is free, else one
    /// that nobody had. Nobody is interrupted.
    ///
    /// ```
    /// use transport_core::Transport;
    /// use transport_loopback::sim::{CostModel, Link, Sim};
    ///
    /// // Two PEs on one processor. A flag costs its sender 10 ns, and is there after 100.
    /// let link = Link { latency_ns: 100, per_byte_ps: 0 };
    /// let model = CostModel { link, overhead_ns: 10, ..CostModel::free() }.cores(1, 1000);
    /// let predicted = Sim::new(2).predict(&model, |pe| async move {
    ///     pe.begin().await;
    ///     pe.barrier_all().await?;
    ///     pe.phase("end");
    ///     pe.finalize().await
    /// })?;
    /// // PE 0 sends its flag; PE 1 sends its own, and has that of PE 0; PE 0 goes on when it has that of PE 1.
    /// let barrier = predicted.phase("start").ok_or("no such phase")?;
    /// assert_eq!(barrier.time_ns(), 10 + (1000 + 10) + 100 + 1000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn cores(mut self, cores: usize, switch_ns: u64) -> Self {
        (self.cores, self.switch_ns) = (cores, switch_ns);
        self
    }

    /// The link from one PE to another.
    #[must_use]
    pub fn link_of(&self, from: usize, to: usize) -> Link {
        self.links.0.as_ref().map_or(self.link, |link_of| link_of(from, to))
    }
}

impl fmt::Debug for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Links(by a function)" } else { "Links(none)" })
    }
}
