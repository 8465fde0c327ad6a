//! Hands the job's memory file from PE 0 to the others, over a socket without a name in the file system.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};

/// What a PE must show to get the file. It travels over the rendezvous, so only PEs know it.
pub(crate) const TOKEN: usize = 32;

/// How long a connection may take to show its token: they all come from this host.
const PATIENCE: Duration = Duration::from_millis(500);

/// The giving end, at PE 0.
#[derive(Debug)]
pub(crate) struct Giver {
    listener: UnixListener,
    token: [u8; TOKEN],
}

impl Giver {
    /// Listens under the name that the token's first half makes.
    pub(crate) fn new() -> io::Result<Self> {
        let mut token = [0; TOKEN];
        let mut filled = 0;
        while filled < TOKEN {
            let rest = &mut token[filled..];
            filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty())?;
        }
        let listener = UnixListener::bind_addr(&address(&token)?)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, token })
    }

    /// What the takers need.
    pub(crate) fn token(&self) -> [u8; TOKEN] {
        self.token
    }

    /// Gives `file` to `takers` PEs. Strangers, who do not know the token, get nothing and hold up nobody for long.
    pub(crate) fn give(&self, file: impl AsFd, takers: usize, deadline: Instant) -> io::Result<()> {
        let mut given = 0;
        while given < takers {
            wait_readable(&self.listener, deadline)?;
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) =>
                {
                    continue;
                }
                Err(error) => return Err(error),
            };
            match self.give_one(&stream, file.as_fd(), deadline.min(Instant::now() + PATIENCE)) {
                Ok(()) => given += 1,
                Err(error) => tracing::warn!(%error, "a connection did not take the job's memory"),
            }
        }
        Ok(())
    }

    fn give_one(&self, stream: &UnixStream, file: impl AsFd, deadline: Instant) -> io::Result<()> {
        let peer = rustix::net::sockopt::socket_peercred(stream)?;
        if peer.uid != rustix::process::geteuid() {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!("it is of user {}", peer.uid.as_raw()),
            ));
        }
        stream.set_nonblocking(true)?;
        let mut shown = [0; TOKEN];
        let mut read = 0;
        while read < TOKEN {
            wait_readable(stream, deadline)?;
            match rustix::io::read(stream, &mut shown[read..])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => read += n,
            }
        }
        if shown != self.token {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it does not know the job's token"));
        }
        let fds = [file.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&fds));
        rustix::net::sendmsg(stream, &[io::IoSlice::new(&[1])], &mut ancillary, SendFlags::NOSIGNAL)?;
        Ok(())
    }
}

/// Takes the file from PE 0.
pub(crate) fn take(token: &[u8; TOKEN], deadline: Instant) -> io::Result<OwnedFd> {
    use io::Write;
    let mut stream = UnixStream::connect_addr(&address(token)?)?;
    stream.write_all(token)?;
    wait_readable(&stream, deadline)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let mut buffers = [io::IoSliceMut::new(&mut byte)];
    rustix::net::recvmsg(&stream, &mut buffers, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let mut files = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => Some(fds),
        _ => None,
    });
    files
        .next()
        .and_then(|mut fds| fds.next())
        .ok_or_else(|| io::Error::other("PE 0 closed without giving it"))
}

fn address(token: &[u8; TOKEN]) -> io::Result<SocketAddr> {
    let hex: String = token[..TOKEN / 2].iter().map(|byte| format!("{byte:02x}")).collect();
    SocketAddr::from_abstract_name(format!("shmem-loopback-{hex}"))
}

fn wait_readable(fd: impl AsFd, deadline: Instant) -> io::Result<()> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let limit = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        let mut fds = [PollFd::new(&fd, PollFlags::IN)];
        match rustix::event::poll(&mut fds, Some(&limit)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, SeekFrom, Write};

    #[test]
    fn takers_get_the_file_and_strangers_do_not() {
        let file = crate::sys::sealed_memory_file("test", 4096).unwrap();
        let giver = Giver::new().unwrap();
        let token = giver.token();
        let deadline = Instant::now() + Duration::from_secs(20);
        std::thread::scope(|scope| {
            let mut silent = UnixStream::connect_addr(&address(&token).unwrap()).unwrap();
            let mut wrong = UnixStream::connect_addr(&address(&token).unwrap()).unwrap();
            wrong.write_all(&[0; TOKEN]).unwrap();
            drop(UnixStream::connect_addr(&address(&token).unwrap()).unwrap());
            let takers: Vec<_> = (0..3).map(|_| scope.spawn(|| take(&token, deadline).unwrap())).collect();
            giver.give(&file, 3, deadline).unwrap();
            for taker in takers {
                let taken = taker.join().unwrap();
                crate::sys::check_memory_file(&taken, 4096).unwrap();
                assert!(crate::sys::check_memory_file(&taken, 8192).is_err());
            }
            silent.flush().unwrap();
        });
    }

    #[test]
    fn nobody_waits_beyond_the_deadline() {
        let giver = Giver::new().unwrap();
        let soon = Instant::now() + Duration::from_millis(50);
        let file = std::fs::File::open("/dev/null").unwrap();
        assert_eq!(giver.give(&file, 1, soon).unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert!(take(&[7; TOKEN], soon).is_err());
    }

    #[test]
    fn a_file_that_could_shrink_is_not_mapped() {
        let mut plain = tempfile();
        plain.seek(SeekFrom::Start(4095)).unwrap();
        plain.write_all(&[0]).unwrap();
        assert!(crate::sys::check_memory_file(&plain, 4096).is_err());
    }

    fn tempfile() -> std::fs::File {
        let flags = rustix::fs::MemfdFlags::CLOEXEC;
        std::fs::File::from(rustix::fs::memfd_create("unsealed", flags).unwrap())
    }
}
