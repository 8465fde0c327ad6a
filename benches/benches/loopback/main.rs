//! Benches of the loopback backend: `cargo bench -p benches`.
//!
//! Jobs are processes, as in use; this program starts itself again for the other PEs.

#![allow(clippy::expect_used, reason = "a bench that cannot run may panic: that is how it fails")]

mod collective;
mod put;
mod replay;

use criterion::Criterion;

fn main() {
    match benches::be_a_child() {
        Ok(false) => {}
        Ok(true) => return,
        Err(error) => {
            eprintln!("a PE of the bench failed: {error}");
            std::process::exit(1);
        }
    }
    let mut criterion = Criterion::default().configure_from_args();
    put::benches(&mut criterion);
    collective::benches(&mut criterion);
    replay::benches(&mut criterion);
    criterion.final_summary();
}
