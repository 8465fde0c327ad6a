//! A rendezvous that stops to tell anything: what then is known of a peer comes from the NIC alone.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::spawn;

/// Passes one connection on, until silenced; then it reads on and passes on nothing, not even the end.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    silent: Arc<AtomicBool>,
}

impl Proxy {
    /// Between one PE, which is told [`address`](Self::address), and the rendezvous at `to`.
    pub(crate) fn new(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let new = Self { address: listener.local_addr().unwrap(), silent: Arc::default() };
        let silent = Arc::clone(&new.silent);
        spawn(move || {
            let (near, _) = listener.accept().unwrap();
            let far = TcpStream::connect(to).unwrap();
            let (near_too, far_too) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            let silent_too = Arc::clone(&silent);
            spawn(move || pass_on(near, far, &silent));
            pass_on(far_too, near_too, &silent_too);
        });
        new
    }

    pub(crate) fn silence(&self) {
        self.silent.store(true, Ordering::SeqCst);
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, silent: &AtomicBool) {
    let mut bytes = [0; 4096];
    loop {
        match from.read(&mut bytes) {
            Ok(len) if silent.load(Ordering::SeqCst) => {
                if len == 0 {
                    // Kept open: whoever is at the other end hears of no end.
                    return std::mem::forget(to);
                }
            }
            Ok(0) | Err(_) => {
                let _ = to.shutdown(std::net::Shutdown::Both);
                return;
            }
            Ok(len) if to.write_all(&bytes[..len]).is_err() => return,
            Ok(_) => {}
        }
    }
}
