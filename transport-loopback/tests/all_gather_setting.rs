//! How AllGathers are done is a setting of the job, where the program leaves it open.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panics")]

use transport_core::collectives::{AllGather, AllGatherAlgorithm};
use transport_core::{Transport, wait::block_on};
use transport_loopback::sim::{Exploration, Sim};
use transport_loopback::{Loopback, Threads};

/// Runs `f` on each of two PEs of a job with this setting.
fn two_pes(all_gather: AllGatherAlgorithm, f: impl Fn(&Loopback) + Sync) {
    let pes = Threads::new(2).heap_size(1 << 20).all_gather(all_gather).start().unwrap();
    std::thread::scope(|scope| {
        for pe in pes {
            let f = &f;
            scope.spawn(move || {
                f(&pe);
                block_on(pe.finalize()).unwrap();
            });
        }
    });
}

/// The algorithm of a gather of so many bytes of each PE, which is done too.
fn used(pe: &Loopback, bytes: usize, asked: AllGatherAlgorithm) -> AllGatherAlgorithm {
    block_on(async {
        let all = pe.calloc::<u8>(2 * bytes).await.unwrap();
        pe.heap().fill(all.part(pe.my_pe(), 2).unwrap(), 10 + pe.my_pe() as u8).unwrap();
        let gather = AllGather::in_place(pe, all, asked).unwrap();
        gather.check_same_on_all(pe).await.unwrap();
        gather.run(pe).await.unwrap();
        let expected = [vec![10; bytes], vec![11; bytes]].concat();
        assert_eq!(pe.heap().read_vec(all).unwrap(), expected);
        pe.free(all).await.unwrap();
        gather.algorithm()
    })
}

#[test]
fn it_is_used_where_the_program_names_none() {
    use AllGatherAlgorithm::{Auto, Direct, Eager};
    for (algorithm, _) in AllGatherAlgorithm::ALL {
        two_pes(algorithm, |pe| {
            // What the table says for this size.
            let expected = if algorithm == Auto { Eager } else { algorithm };
            assert_eq!(used(pe, 64, Auto), expected);
            assert_eq!(used(pe, 64, Direct), Direct, "the program's own word");
        });
    }
}

#[test]
fn what_has_no_room_is_done_directly() {
    use AllGatherAlgorithm::{Auto, Direct, Eager};
    two_pes(Eager, |pe| {
        assert_eq!(used(pe, 8192, Auto), Eager);
        assert_eq!(used(pe, 8193, Auto), Direct);
    });
}

#[test]
fn simulated_jobs_have_it_too() {
    use AllGatherAlgorithm::{Auto, Direct, Marked};
    for (algorithm, _) in AllGatherAlgorithm::ALL {
        let sim = Sim::new(2).all_gather(algorithm);
        let explored = sim.explore(Exploration::Random { schedules: 3 }, move |pe| async move {
            let all = pe.calloc::<u64>(2).await?;
            let gather = AllGather::in_place(&pe, all, Auto)?;
            // What the table says for this size over a network.
            let expected = if algorithm == Auto { Marked } else { algorithm };
            assert_eq!(gather.algorithm(), expected);
            assert_eq!(AllGather::in_place(&pe, all, Direct)?.algorithm(), Direct, "the program's own word");
            pe.heap().write(all.part(pe.my_pe(), 2)?, &[10 + pe.my_pe() as u64])?;
            gather.run(&pe).await?;
            assert_eq!(pe.heap().read_vec(all)?, [10, 11]);
            pe.finalize().await
        });
        explored.unwrap_or_else(|failure| panic!("{algorithm}: {failure}"));
    }
}
