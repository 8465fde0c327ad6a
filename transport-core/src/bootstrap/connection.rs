//! Frames over a TCP connection: what server and client share.

use std::fmt;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;

use super::frame::{FrameDecoder, FrameTooLong, MAX_HANDSHAKE_FRAME};

/// How long a connection that is being closed may take for what is still on its way.
pub(crate) const LINGER: Duration = Duration::from_secs(1);

/// Why nothing more comes from the other side. Displays as a cause to tell.
#[derive(Debug)]
pub(crate) enum ReadError {
    Closed,
    ClosedWithinFrame,
    Io(io::Error),
    TooLong(FrameTooLong),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("its connection closed without a goodbye; it ended or was killed"),
            Self::ClosedWithinFrame => {
                f.write_str("its connection closed in the middle of a message; it was killed")
            }
            Self::Io(error) => write!(f, "its connection broke: {error}"),
            Self::TooLong(error) => write!(f, "it {error}"),
        }
    }
}

/// Reads frames.
pub(crate) struct FrameReader {
    half: OwnedReadHalf,
    pub(crate) decoder: FrameDecoder,
    chunk: Vec<u8>,
}

const CHUNK: usize = 16 << 10;

impl FrameReader {
    fn new(half: OwnedReadHalf) -> Self {
        Self { half, decoder: FrameDecoder::new(MAX_HANDSHAKE_FRAME), chunk: vec![0; CHUNK] }
    }

    /// The next frame's contents. Cancelling loses nothing.
    pub(crate) async fn next(&mut self) -> Result<Bytes, ReadError> {
        loop {
            if let Some(frame) = self.decoder.next_frame().map_err(ReadError::TooLong)? {
                return Ok(frame);
            }
            match self.half.read(&mut self.chunk).await {
                Ok(0) if self.decoder.is_within_frame() => return Err(ReadError::ClosedWithinFrame),
                Ok(0) => return Err(ReadError::Closed),
                Ok(count) => self.decoder.push(&self.chunk[..count]),
                Err(error) => return Err(ReadError::Io(error)),
            }
        }
    }

    /// Reads to the end, at most for [`LINGER`]: a socket closed with bytes unread resets the connection, and what was
    /// sent last would be lost.
    pub(crate) async fn drain(&mut self) {
        let to_end =
            async { while matches!(self.half.read(&mut self.chunk).await, Ok(count) if count > 0) {} };
        drop(tokio::time::timeout(LINGER, to_end).await);
    }
}

/// Splits a connection into its two directions, set for short messages and for finding out that a host is gone.
pub(crate) fn split(stream: TcpStream) -> (FrameReader, OwnedWriteHalf) {
    let socket = SockRef::from(&stream);
    let keepalive = TcpKeepalive::new()
        .with_time(Duration::from_secs(30))
        .with_interval(Duration::from_secs(10))
        .with_retries(3);
    for (option, result) in [
        ("TCP_NODELAY", socket.set_tcp_nodelay(true)),
        ("SO_KEEPALIVE", socket.set_tcp_keepalive(&keepalive)),
    ] {
        if let Err(error) = result {
            tracing::debug!("bootstrap: {option}: {error}");
        }
    }
    let (read, write) = stream.into_split();
    (FrameReader::new(read), write)
}

/// Writes frames until the queue closes or the connection breaks; then says that nothing more comes.
pub(crate) async fn write_frames(mut half: OwnedWriteHalf, mut queue: mpsc::UnboundedReceiver<Bytes>) {
    while let Some(frame) = queue.recv().await {
        // The reader hears of the same trouble, and reports it.
        if half.write_all(&frame).await.is_err() {
            return;
        }
    }
    drop(half.shutdown().await);
}
