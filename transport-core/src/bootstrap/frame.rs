//! Frames: a length of four bytes (little endian), then so many bytes.
//!
//! The decoder takes chunks cut anywhere, as TCP delivers them. It reserves nothing on a stranger's word: a length above
//! the bound is an error, and memory grows only with bytes that have arrived.

use bytes::{Buf, BufMut, Bytes, BytesMut};

/// The most bytes of a frame between PEs of a job.
pub const MAX_FRAME: usize = 4 << 20;
/// The most bytes of a frame during the handshake, when the other side may be anybody.
pub const MAX_HANDSHAKE_FRAME: usize = 4 << 10;

const HEADER: usize = 4;

/// The other side announced more than it may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "announced a frame of {announced} bytes where at most {bound} are allowed; it does not speak this protocol"
)]
pub struct FrameTooLong {
    /// What it announced.
    pub announced: usize,
    /// What it may send.
    pub bound: usize,
}

/// Turns chunks of bytes into frames.
#[derive(Debug)]
pub struct FrameDecoder {
    buffer: BytesMut,
    bound: usize,
}

impl FrameDecoder {
    /// A decoder that takes frames of up to `bound` bytes.
    #[must_use]
    pub fn new(bound: usize) -> Self {
        Self { buffer: BytesMut::new(), bound }
    }

    /// Changes the bound: larger once the other side has proved to be of the job.
    pub fn set_bound(&mut self, bound: usize) {
        self.bound = bound;
    }

    /// Adds what has arrived.
    pub fn push(&mut self, chunk: &[u8]) {
        self.buffer.extend_from_slice(chunk);
    }

    /// The next whole frame's contents; `None` if more must arrive first.
    ///
    /// # Errors
    /// If the announced length is above the bound; the stream cannot be read any further.
    pub fn next_frame(&mut self) -> Result<Option<Bytes>, FrameTooLong> {
        let Some((header, rest)) = self.buffer.split_first_chunk::<HEADER>() else { return Ok(None) };
        let announced = u32::from_le_bytes(*header) as usize;
        if announced > self.bound {
            return Err(FrameTooLong { announced, bound: self.bound });
        }
        if rest.len() < announced {
            return Ok(None);
        }
        self.buffer.advance(HEADER);
        Ok(Some(self.buffer.split_to(announced).freeze()))
    }

    /// Whether a frame has begun that is not whole yet.
    #[must_use]
    pub fn is_within_frame(&self) -> bool {
        !self.buffer.is_empty()
    }
}

/// A frame with these contents.
///
/// # Errors
/// If they are longer than [`MAX_FRAME`].
pub fn encode_frame(contents: &[u8]) -> Result<Bytes, FrameTooLong> {
    frame_with(|buffer| buffer.put_slice(contents))
}

/// A frame with what `fill` appends, without a copy.
pub(crate) fn frame_with(fill: impl FnOnce(&mut BytesMut)) -> Result<Bytes, FrameTooLong> {
    let mut buffer = BytesMut::zeroed(HEADER);
    fill(&mut buffer);
    let announced = buffer.len() - HEADER;
    match u32::try_from(announced) {
        Ok(length) if announced <= MAX_FRAME => {
            buffer[..HEADER].copy_from_slice(&length.to_le_bytes());
            Ok(buffer.freeze())
        }
        _ => Err(FrameTooLong { announced, bound: MAX_FRAME }),
    }
}
