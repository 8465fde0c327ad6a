//! Numbers, texts and bytes in a message: little endian, lengths before contents, nothing trusted.

use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::message::MessageError;
use crate::pe_list::PeList;

/// Rounded up to what a message can hold, so that all PEs speak of the same time and no deadline becomes zero.
pub(crate) fn whole_millis(duration: Duration) -> Duration {
    Duration::from_millis(u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX))
}

/// Appends fields to a message.
pub(crate) struct Writer(pub(crate) BytesMut);

impl Writer {
    pub(crate) fn u8(&mut self, value: u8) {
        self.0.put_u8(value);
    }
    pub(crate) fn u16(&mut self, value: u16) {
        self.0.put_u16_le(value);
    }
    pub(crate) fn u32(&mut self, value: u32) {
        self.0.put_u32_le(value);
    }
    pub(crate) fn u64(&mut self, value: u64) {
        self.0.put_u64_le(value);
    }
    pub(crate) fn usize(&mut self, value: usize) {
        self.u64(value as u64);
    }
    pub(crate) fn duration(&mut self, value: Duration) {
        self.u64(u64::try_from(whole_millis(value).as_millis()).unwrap_or(u64::MAX));
    }
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.0.put_slice(bytes);
    }
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        // Payloads are far below 4 GiB: `Bootstrap::allgather` refuses larger ones.
        self.u32(bytes.len() as u32);
        self.raw(bytes);
    }
    /// A text, cut where it is too long for its field: a cause or a reason, never an identity.
    pub(crate) fn text(&mut self, text: &str) {
        let mut end = text.len().min(MAX_TEXT);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.u16(end as u16);
        self.raw(&text.as_bytes()[..end]);
    }
    pub(crate) fn pes(&mut self, pes: &PeList) {
        self.u32(pes.len() as u32);
        for pe in pes.as_slice() {
            self.u32(*pe as u32);
        }
    }
}

/// The most bytes of a text in a message.
pub(crate) const MAX_TEXT: usize = 1024;

/// Takes fields off a message; every one can fail.
pub(crate) struct Reader(pub(crate) Bytes);

impl Reader {
    fn need(&self, len: usize) -> Result<(), MessageError> {
        if self.0.remaining() < len { Err(MessageError::TooShort) } else { Ok(()) }
    }
    pub(crate) fn u8(&mut self) -> Result<u8, MessageError> {
        self.need(1)?;
        Ok(self.0.get_u8())
    }
    pub(crate) fn u16(&mut self) -> Result<u16, MessageError> {
        self.need(2)?;
        Ok(self.0.get_u16_le())
    }
    pub(crate) fn u32(&mut self) -> Result<u32, MessageError> {
        self.need(4)?;
        Ok(self.0.get_u32_le())
    }
    pub(crate) fn u64(&mut self) -> Result<u64, MessageError> {
        self.need(8)?;
        Ok(self.0.get_u64_le())
    }
    pub(crate) fn usize(&mut self) -> Result<usize, MessageError> {
        usize::try_from(self.u64()?).map_err(|_| MessageError::BadField)
    }
    pub(crate) fn duration(&mut self) -> Result<Duration, MessageError> {
        self.u64().map(Duration::from_millis)
    }
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], MessageError> {
        self.need(N)?;
        let mut array = [0; N];
        self.0.copy_to_slice(&mut array);
        Ok(array)
    }
    /// Shares the message's memory.
    pub(crate) fn bytes(&mut self) -> Result<Bytes, MessageError> {
        let len = self.u32()? as usize;
        self.need(len)?;
        Ok(self.0.split_to(len))
    }
    pub(crate) fn text(&mut self) -> Result<String, MessageError> {
        let len = usize::from(self.u16()?);
        if len > MAX_TEXT {
            return Err(MessageError::BadField);
        }
        self.need(len)?;
        String::from_utf8(self.0.split_to(len).to_vec()).map_err(|_| MessageError::BadField)
    }
    pub(crate) fn pes(&mut self) -> Result<PeList, MessageError> {
        let count = self.u32()? as usize;
        // Before anything is allocated: the numbers must be there.
        self.need(count.checked_mul(4).ok_or(MessageError::BadField)?)?;
        (0..count).map(|_| self.u32().map(|pe| pe as usize)).collect()
    }
    pub(crate) fn end(self) -> Result<(), MessageError> {
        if self.0.has_remaining() { Err(MessageError::TooLong) } else { Ok(()) }
    }
}
