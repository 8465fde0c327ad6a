use transport_core::{*, wait::block_on};
use transport_loopback::Threads;
fn main() {
    for n in [1,2,4,8,16] {
        let pes = Threads::new(n).heap_size(1<<20).start().unwrap();
        let iters = if n <= 2 { 200000 } else { 5000 };
        let t = std::time::Instant::now();
        std::thread::scope(|s| for pe in &pes { s.spawn(move || block_on(async { for _ in 0..iters { pe.barrier_all().await.unwrap(); } })); });
        println!("n={n} barrier {:.3} us", t.elapsed().as_secs_f64()*1e6/iters as f64);
        let t = std::time::Instant::now();
        std::thread::scope(|s| for pe in &pes { s.spawn(move || for _ in 0..iters { block_on(pe.barrier_all()).unwrap(); }); });
        println!("n={n} barrier block_on each {:.3} us", t.elapsed().as_secs_f64()*1e6/iters as f64);
    }
    let pe = Threads::new(2).heap_size(1<<24).start().unwrap();
    let p = &pe[0];
    let (a, b) = std::thread::scope(|s| { let h = s.spawn(|| block_on(async { (pe[1].alloc::<u8>(1<<20).await.unwrap(), pe[1].alloc::<u8>(1<<20).await.unwrap()) })); let r = block_on(async { (p.alloc::<u8>(1<<20).await.unwrap(), p.alloc::<u8>(1<<20).await.unwrap()) }); h.join().unwrap(); r });
    for len in [8usize, 64, 256, 1024, 4096, 65536, 1<<20] {
        let (a, b) = (a.slice(..len).unwrap(), b.slice(..len).unwrap());
        let iters = (200_000_000 / (len + 200)).min(3_000_000);
        let t = std::time::Instant::now();
        for _ in 0..iters { p.put_nbi(b, a, 1).unwrap(); block_on(p.quiet()).unwrap(); }
        let e = t.elapsed().as_secs_f64()*1e6/iters as f64;
        let t = std::time::Instant::now();
        for _ in 0..iters { p.put_nbi(b, a, 1).unwrap(); }
        println!("put+quiet {len} B {e:.4} us; put only {:.4}", t.elapsed().as_secs_f64()*1e6/iters as f64);
    }
}
