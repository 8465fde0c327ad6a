//! All of this folder on a real device, for instance Soft-RoCE: two queue pairs of one process, connected to each other.
//!
//! Without a device there is nothing to test and the tests pass. A run that must not skip sets `ROCE_TEST_DEVICE` to the
//! device's name.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use transport_core::memory::Region;

use super::*;

const KIB64: u32 = 64 << 10;
const SIGNALED: Flags = Flags { signaled: true, fence: false, inline: false };

/// The device to test on, with its port's usable GID; `None` where there is none.
fn device() -> Option<(Arc<Context>, PortAttributes, super::gid::GidEntry)> {
    let wanted = std::env::var("ROCE_TEST_DEVICE").ok();
    let find = || {
        let devices = Library::open().ok()?.devices().ok()?;
        let device = devices.into_iter().find(|d| wanted.as_ref().is_none_or(|w| d.name() == w))?;
        let context = device.open().unwrap();
        let port = context.port(1).unwrap();
        let gids = context.gids(1).unwrap();
        // An IPv4 address if there is one: link-local GIDs need not be reachable.
        let mapped =
            |gid: &&super::gid::GidEntry| gid.gid[..12] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
        let gid =
            gids.iter().filter(|gid| gid.kind == GidKind::RoceV2).find(mapped).or(gids.first())?.clone();
        (port.state == PortState::Active).then_some((context, port, gid))
    };
    let found = find();
    assert!(found.is_some() || wanted.is_none(), "no active device {wanted:?}");
    found
}

/// Two queue pairs that are each other's peer, with memory.
struct Pair {
    qps: [QueuePair; 2],
    cq: Arc<CompletionQueue>,
    mrs: [Arc<MemoryRegion>; 2],
    route: Route,
}

impl Pair {
    fn new() -> Option<Self> {
        let (context, port, gid) = device()?;
        let pd = ProtectionDomain::new(&context).unwrap();
        let cq = CompletionQueue::new(&context, 128).unwrap();
        let sizes = QueueSizes { send_requests: 64, inline_bytes: 1 << 20 };
        let qps = [(); 2].map(|()| QueuePair::create(&pd, &cq, sizes).unwrap());
        let mrs =
            [(); 2].map(|()| MemoryRegion::register(&pd, Region::zeroed(1 << 20), Access::ALL).unwrap());
        let route = Route {
            port: 1,
            sgid_index: gid.index as u8,
            dgid: gid.gid,
            remote_qp: qps[1].number(),
            remote_psn: 1001,
            mtu: port.active_mtu.unwrap(),
            max_dest_rd_atomic: 1,
            min_rnr_timer: 12,
            traffic_class: 132,
            service_level: 4,
            hop_limit: 64,
        };
        Some(Self { qps, cq, mrs, route })
    }

    fn connected() -> Option<Self> {
        let pair = Self::new()?;
        for (me, peer) in [(0, 1), (1, 0)] {
            let qp = &pair.qps[me];
            assert_eq!(qp.state().unwrap(), QueuePairState::Reset);
            qp.to_init(1).unwrap();
            let (remote_qp, remote_psn) = (pair.qps[peer].number(), 1000 + peer as u32);
            qp.to_ready_to_receive(&Route { remote_qp, remote_psn, ..pair.route.clone() }).unwrap();
            let psn = 1000 + me as u32;
            // Not 7: Soft-RoCE takes that for "for ever".
            qp.to_ready_to_send(&SendTimers {
                psn,
                timeout: 14,
                retry_count: 6,
                rnr_retry: 7,
                max_rd_atomic: 1,
            })
            .unwrap();
            assert_eq!(qp.state().unwrap(), QueuePairState::ReadyToSend);
        }
        Some(pair)
    }

    fn local(&self, offset: u64, len: u32) -> LocalBytes {
        LocalBytes { address: self.mrs[0].address() + offset, len, lkey: self.mrs[0].lkey() }
    }

    fn remote(&self, offset: u64) -> Remote {
        Remote { address: self.mrs[1].address() + offset, rkey: self.mrs[1].rkey() }
    }

    fn post<const N: usize>(&self, chain: &mut Chain<N>) {
        // SAFETY: the regions of the pair outlive its queue pairs' requests, which each test waits for, and are only
        // touched by `Region`.
        unsafe { self.qps[0].post(chain) }.unwrap();
    }

    /// Waits for `count` completions by polling.
    fn completions(&self, count: usize) -> Vec<WorkCompletion> {
        let mut got = Vec::new();
        let mut room = [WorkCompletion::default(); 16];
        let start = Instant::now();
        while got.len() < count {
            assert!(start.elapsed() < Duration::from_secs(20), "only {got:?} of {count} completions");
            let n = self.cq.poll(&mut room).unwrap();
            got.extend_from_slice(&room[..n]);
        }
        got
    }

    /// Waits for one completion of success, with the number `wr_id`.
    fn done(&self, wr_id: u64) {
        let got = self.completions(1);
        assert!(got[0].status().is_success(), "{got:?}");
        assert_eq!((got.len(), got[0].wr_id(), got[0].qp_number()), (1, wr_id, self.qps[0].number()));
    }
}

#[test]
fn a_device_says_what_it_is() {
    let Some((context, port, gid)) = device() else { return };
    let library = Library::open().unwrap();
    println!("{} from {}", context.name(), library.path().unwrap().display());
    println!("{:?}", context.attributes().unwrap());
    println!("{port:?} {} {} {:?} Mbit/s", port.state, port.link_layer, port.megabits());
    for gid in context.gids(1).unwrap() {
        println!("{gid:?}");
    }
    println!("chosen: {gid:?}");
    assert!(context.attributes().unwrap().ports >= 1);
    assert_eq!(context.gid(1, gid.index).unwrap().as_ref(), Some(&gid));
    assert!(gid.netdev.is_some());
    let text = context.port(200).unwrap_err().to_string();
    println!("{text}");
    assert!(text.contains("port 200"), "{text}");
    // Devices keep the list, the context does not need it.
    let devices = library.devices().unwrap();
    println!("guid {:#018x}", devices[0].guid());
    let again = devices[0].open().unwrap();
    drop(devices);
    again.attributes().unwrap();
}

#[test]
fn the_way_by_files_finds_the_same_gids() {
    let Some((context, port, _)) = device() else { return };
    let by_files: Vec<_> =
        (0..port.gid_table_len).filter_map(|index| context.gid_by_files(1, index).unwrap()).collect();
    assert_eq!(by_files, context.gids(1).unwrap());
}

#[test]
fn writes_reads_and_atomics_do_what_they_say() {
    let Some(pair) = Pair::connected() else { return };
    let [mine, theirs] = [pair.mrs[0].region(), pair.mrs[1].region()];
    println!("max_inline {} max_requests {}", pair.qps[0].max_inline(), pair.qps[0].max_requests());
    assert!(pair.qps[0].max_requests() >= 64 && pair.cq.depth() >= 128);

    // 8 bytes inline: the source is gone before the write ends.
    let mut chain = Chain::<1>::new();
    let bytes = Box::new(0x1122_3344_5566_7788_u64.to_ne_bytes());
    chain.push_write_inline(bytes.as_ptr(), 8, pair.remote(0), 1, SIGNALED);
    pair.post(&mut chain);
    drop(bytes);
    pair.done(1);
    assert_eq!(theirs.load(0), 0x1122_3344_5566_7788);

    // 64 KiB with an 8-byte flag after it, in one chain: one completion for both.
    let data: Vec<u8> = (0..KIB64).map(|i| (i % 251) as u8).collect();
    mine.write(4096, &data);
    let mut chain = Chain::<2>::new();
    chain.push_write(pair.local(4096, KIB64), pair.remote(8192), 2, Flags::default());
    let flag = 9_u64.to_ne_bytes();
    chain.push_write_inline(flag.as_ptr(), 8, pair.remote(64), 3, SIGNALED);
    assert!(chain.is_full());
    pair.post(&mut chain);
    assert!(chain.is_empty());
    pair.done(3);
    let mut got = vec![0; KIB64 as usize];
    theirs.read(8192, &mut got);
    assert!(got == data && theirs.load(64) == 9);

    // Back by a read to another place, and an empty write.
    let mut chain = Chain::<2>::new();
    chain.push_read(pair.local(512 << 10, KIB64), pair.remote(8192), 4, Flags::default());
    chain.push_empty_write(pair.remote(0), 5, Flags { fence: true, ..SIGNALED });
    pair.post(&mut chain);
    pair.done(5);
    mine.read(512 << 10, &mut got);
    assert!(got == data);

    // Atomics: the old value comes back.
    theirs.word(128).store(40, std::sync::atomic::Ordering::Release);
    let mut chain = Chain::<3>::new();
    chain.push_fetch_add(pair.local(0, 8), pair.remote(128), 2, 6, SIGNALED);
    chain.push_compare_swap(pair.local(8, 8), pair.remote(128), 42, 7, 7, SIGNALED);
    chain.push_compare_swap(pair.local(16, 8), pair.remote(128), 42, 8, 8, SIGNALED);
    pair.post(&mut chain);
    assert_eq!(pair.completions(3).iter().map(WorkCompletion::wr_id).collect::<Vec<_>>(), [6, 7, 8]);
    assert_eq!((mine.load(0), mine.load(8), mine.load(16), theirs.load(128)), (40, 42, 7, 7));
}

#[test]
fn a_wrong_key_ends_with_a_remote_access_error_and_the_rest_is_flushed() {
    let Some(pair) = Pair::connected() else { return };
    let mut chain = Chain::<2>::new();
    let wrong = Remote { rkey: pair.mrs[1].rkey() ^ 0x5a5a_5a00, ..pair.remote(0) };
    chain.push_write(pair.local(0, 64), wrong, 1, Flags::default());
    chain.push_write(pair.local(0, 64), pair.remote(0), 2, Flags::default());
    pair.post(&mut chain);
    let got = pair.completions(2);
    println!("{}; {}", got[0].status(), got[0].status().advice());
    println!("{}; {}", got[1].status(), got[1].status().advice());
    assert_eq!((got[0].wr_id(), got[0].status().code(), got[1].status().code()), (1, 10, 5));
    assert_eq!(pair.qps[0].state().unwrap(), QueuePairState::Error);
}

#[test]
fn an_event_wakes_who_sleeps_on_the_file() {
    let Some(pair) = Pair::connected() else { return };
    assert_eq!(pair.cq.take_events().unwrap(), 0);
    let readable = |limit: i64| {
        let fd = pair.cq.fd();
        let limit = rustix::time::Timespec { tv_sec: limit, tv_nsec: 0 };
        poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&limit)).unwrap() == 1
    };
    for round in 0..10 {
        pair.cq.request_notification().unwrap();
        assert!(!readable(0));
        let mut chain = Chain::<1>::new();
        chain.push_write(pair.local(0, 8), pair.remote(0), round, SIGNALED);
        pair.post(&mut chain);
        assert!(readable(10));
        assert_eq!(pair.cq.take_events().unwrap(), 1);
        assert!(!readable(0));
        pair.done(round);
    }
}

#[test]
fn a_full_queue_refuses_the_rest_of_a_chain_and_says_how_much() {
    let Some(pair) = Pair::connected() else { return };
    // More than fits; the device may be quick enough to take some more meanwhile.
    let mut chain = Chain::<1024>::new();
    while !chain.is_full() {
        chain.push_write(pair.local(0, KIB64), pair.remote(0), chain.len() as u64, SIGNALED);
    }
    // SAFETY: as in `Pair::post`.
    let error = unsafe { pair.qps[0].post(&mut chain) }.unwrap_err();
    println!("{error}");
    assert!((64..1024).contains(&error.posted) && error.errno == Errno::NOMEM, "{error:?}");
    pair.qps[0].to_error().unwrap();
    let mut room = [WorkCompletion::default(); 16];
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(1) {
        let _ = pair.cq.poll(&mut room);
    }
}

#[test]
fn a_state_that_is_refused_says_why() {
    let Some(pair) = Pair::new() else { return };
    let [qp, other] = &pair.qps;
    qp.to_init(1).unwrap();
    let text =
        qp.to_ready_to_receive(&Route { sgid_index: 200, ..pair.route.clone() }).unwrap_err().to_string();
    println!("{text}");
    assert!(text.contains("GID index 200"), "{text}");
    let text = other.to_init(77).unwrap_err().to_string();
    println!("{text}");
    assert!(text.contains("port 77"), "{text}");
    // An address of nobody in the subnet: the kernel looks for it and gives up.
    let mut nobody = pair.route.clone();
    nobody.dgid[15] ^= 0x55;
    println!(
        "a peer that is not there: {:?}",
        qp.to_ready_to_receive(&nobody).map_err(|error| error.to_string())
    );
    qp.to_error().unwrap();
    assert_eq!(qp.state().unwrap(), QueuePairState::Error);
}

#[test]
fn a_peer_that_does_not_answer_is_told_from_one_that_refuses() {
    let Some(pair) = Pair::connected() else { return };
    pair.qps[1].to_error().unwrap();
    let mut chain = Chain::<1>::new();
    chain.push_write(pair.local(0, 8), pair.remote(0), 1, Flags::default());
    pair.post(&mut chain);
    // Not signaled, but a failure is always told.
    let got = pair.completions(1);
    println!("{}; {}", got[0].status(), got[0].status().advice());
    assert_eq!((got[0].wr_id(), got[0].status().code()), (1, 12));
}

#[test]
fn more_memory_than_may_be_locked_is_refused_with_the_limit() {
    use rustix::process::{Resource, getrlimit};
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
    let Some((context, ..)) = device() else { return };
    let Some(limit) = getrlimit(Resource::Memlock).current.filter(|&limit| limit < 1 << 30) else { return };
    // Root may lock everything; this thread gives that up for a moment.
    let all = capabilities(None).unwrap();
    let mut without = all;
    without.effective.remove(CapabilitySet::IPC_LOCK);
    set_capabilities(None, without).unwrap();
    let pd = ProtectionDomain::new(&context).unwrap();
    let needed = limit + (1 << 20);
    let error = MemoryRegion::register(&pd, Region::zeroed(needed as usize), Access::ALL).unwrap_err();
    set_capabilities(None, all).unwrap();
    println!("{error}");
    let VerbsError::MemoryLock { needed: told, memory, .. } = error else { panic!("{error}") };
    assert_eq!((told, memory.limit), (needed, Some(limit)));
    let mr = MemoryRegion::register(&pd, Region::zeroed(needed as usize), Access::ALL).unwrap();
    assert_eq!(mr.len(), needed);
    println!("with CAP_IPC_LOCK it is registered: {:?}", memory_limit::LockedMemory::now());
}

#[test]
fn too_large_queues_are_refused_with_a_hint() {
    let Some((context, ..)) = device() else { return };
    let error = CompletionQueue::new(&context, u32::MAX).unwrap_err();
    println!("{error}");
    let pd = ProtectionDomain::new(&context).unwrap();
    let cq = CompletionQueue::new(&context, 16).unwrap();
    let sizes = QueueSizes { send_requests: 1 << 30, inline_bytes: 64 };
    println!("{}", QueuePair::create(&pd, &cq, sizes).unwrap_err());
}
