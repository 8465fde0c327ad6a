//! Bytes by which it is seen whether data arrived.

use transport_core::{Result, SymSlice, Transport};

use crate::error::WorkError;

const BLOCK: usize = 4096;

/// Byte `at` of what PE `pe` sends. Never 0, which is what destinations hold before.
fn byte(pe: usize, at: usize) -> u8 {
    // 251 is prime, so neither blocks nor PEs repeat each other.
    (1 + (pe * 89 + at * 7 + at / BLOCK) % 251) as u8
}

/// Writes the bytes of PE `pe` to this PE's own `slice`.
pub(super) fn write<X: Transport>(transport: &X, slice: SymSlice<u8>, pe: usize) -> Result<()> {
    let mut block = [0; BLOCK];
    for start in (0..slice.len()).step_by(BLOCK) {
        let part = slice.slice(start..slice.len().min(start + BLOCK))?;
        let block = &mut block[..part.len()];
        block.iter_mut().enumerate().for_each(|(i, to)| *to = byte(pe, start + i));
        transport.heap().write(part, block)?;
    }
    Ok(())
}

/// Looks whether this PE's own `slice` holds the bytes of PE `pe`.
pub(super) fn check<X: Transport>(
    transport: &X,
    slice: SymSlice<u8>,
    pe: usize,
    work: &'static str,
    rounds: u64,
) -> std::result::Result<(), WorkError> {
    let mut block = [0; BLOCK];
    for start in (0..slice.len()).step_by(BLOCK) {
        let part = slice.slice(start..slice.len().min(start + BLOCK))?;
        let block = &mut block[..part.len()];
        transport.heap().read(part, block)?;
        compare(transport, block, start, slice.len(), |at| byte(pe, at), work, rounds)?;
    }
    Ok(())
}

/// Looks whether a little-endian word, which stands at `at` of `len` bytes, is the one expected.
pub(super) fn check_word<X: Transport>(
    transport: &X,
    found: u64,
    expected: u64,
    work: &'static str,
    rounds: u64,
) -> std::result::Result<(), WorkError> {
    compare(transport, &found.to_ne_bytes(), 0, 8, |at| expected.to_ne_bytes()[at], work, rounds)
}

/// Compares `found`, which stands at `start` of `len` bytes.
fn compare<X: Transport>(
    transport: &X,
    found: &[u8],
    start: usize,
    len: usize,
    expected: impl Fn(usize) -> u8,
    work: &'static str,
    rounds: u64,
) -> std::result::Result<(), WorkError> {
    match found.iter().enumerate().find(|(i, found)| **found != expected(start + i)) {
        None => Ok(()),
        Some((i, &found)) => {
            let (my_pe, at) = (transport.my_pe(), start + i);
            Err(WorkError::WrongData { my_pe, work, at, len, found, expected: expected(at), rounds })
        }
    }
}
