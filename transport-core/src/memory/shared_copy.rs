//! A copy between places that another PE may touch at the same time.
//!
//! `ptr::copy` on such memory would be a data race in Rust's terms. Here each byte is moved by an access
//! that cannot tear below its own size, as a relaxed atomic would; what a racing reader sees is some mix of
//! old and new bytes, never undefined behaviour. Which bytes is the user's protocol, not ours.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

#[cfg(all(target_arch = "x86_64", not(miri)))]
use super::copy_x86_64 as x86_64;

/// From here on vector registers beat a loop over words.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const VECTOR_COPY_FROM: usize = x86_64::SHORTEST;

/// Copies `len` bytes from `src` to `dst`. If the ranges overlap without being equal, which bytes end where is not defined.
///
/// It orders nothing: the caller puts fences around it. An aligned word of 8 bytes whose both ends are
/// 8-aligned and which is copied by a call of exactly 8 bytes does not tear.
///
/// # Safety
///
/// `src` must be valid for reads and `dst` for writes of `len` bytes, for as long as the call runs, and both pointers must
/// come from memory that may be written (no `&[u8]`). Other
/// threads and processes may access either range at the same time, provided that they too use atomics or
/// this function.
#[inline]
pub unsafe fn copy_shared(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the caller's promise, passed on.
    unsafe { copy::<SHARED>(dst, src, len) }
}

/// As [`copy_shared`], from bytes that nobody writes meanwhile.
///
/// # Safety
///
/// As [`copy_shared`] for `dst`, which must lie outside of `src`.
#[inline]
#[cfg_attr(shmem_loom, allow(dead_code))]
pub(super) unsafe fn copy_to_shared(dst: *mut u8, src: &[u8]) {
    // SAFETY: the caller's promise for `dst`; `src` is a live slice.
    unsafe { copy::<PRIVATE>(dst, src.as_ptr(), src.len()) }
}

/// Whether others may write the source: then it is read by atomics. A pointer from a `&[u8]` does not allow that.
const SHARED: bool = true;
#[cfg_attr(shmem_loom, allow(dead_code))]
const PRIVATE: bool = false;

/// # Safety
///
/// As [`copy_shared`]; if `SRC` is `PRIVATE`, nobody writes the source meanwhile.
#[inline]
unsafe fn copy<const SRC: bool>(dst: *mut u8, src: *const u8, len: usize) {
    if len == 8 && (dst as usize | src as usize) & 7 == 0 {
        // SAFETY: both are valid for 8 bytes (the caller's promise) and aligned, as just tested.
        unsafe {
            let word = load_word::<SRC>(src);
            (*dst.cast::<AtomicU64>()).store(word, Ordering::Relaxed);
        }
        return;
    }
    // SAFETY: the caller's promises, passed on.
    unsafe { copy_any::<SRC>(dst, src, len) };
}

/// What is more than a word: not inlined, so that the word is where it is.
///
/// # Safety
///
/// As [`copy`].
#[inline(never)]
unsafe fn copy_any<const SRC: bool>(dst: *mut u8, src: *const u8, len: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if len >= VECTOR_COPY_FROM {
        // SAFETY: `len` is at least 64; else the caller's promise, passed on.
        unsafe { x86_64::copy(dst, src, len, std::arch::is_x86_feature_detected!("avx")) };
        return;
    }
    // SAFETY: the caller's promise, passed on.
    unsafe { copy_by_words::<SRC>(dst, src, len) };
}

/// # Safety
///
/// `src` must be valid for reads of 8 bytes and aligned; as for [`copy`].
#[inline]
unsafe fn load_word<const SRC: bool>(src: *const u8) -> u64 {
    // SAFETY: the caller's promises; a shared source comes from a pointer that may write too.
    unsafe { if SRC { (*src.cast::<AtomicU64>()).load(Ordering::Relaxed) } else { src.cast::<u64>().read() } }
}

/// Words where both sides allow it, bytes elsewhere.
///
/// # Safety
///
/// As [`copy_shared`].
#[inline]
unsafe fn copy_by_words<const SRC: bool>(dst: *mut u8, src: *const u8, len: usize) {
    let mut at = 0;
    if (dst as usize ^ src as usize) & 7 == 0 {
        let head = dst.align_offset(8).min(len);
        // SAFETY: `head <= len`.
        unsafe { copy_by_bytes::<SRC>(dst, src, head) };
        at = head;
        while at + 8 <= len {
            // SAFETY: `at + 8 <= len`, and after `head` bytes both sides are 8-aligned.
            unsafe {
                let word = load_word::<SRC>(src.add(at));
                (*dst.add(at).cast::<AtomicU64>()).store(word, Ordering::Relaxed);
            }
            at += 8;
        }
    }
    // SAFETY: `at <= len`.
    unsafe { copy_by_bytes::<SRC>(dst.add(at), src.add(at), len - at) };
}

/// # Safety
///
/// As [`copy_shared`].
#[inline]
unsafe fn copy_by_bytes<const SRC: bool>(dst: *mut u8, src: *const u8, len: usize) {
    for at in 0..len {
        // SAFETY: `at < len`; a byte is always aligned.
        unsafe {
            let src = src.add(at);
            let byte = if SRC { (*src.cast::<AtomicU8>()).load(Ordering::Relaxed) } else { src.read() };
            (*dst.add(at).cast::<AtomicU8>()).store(byte, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_and_misalignment_arrives() {
        const ROOM: usize = 3000;
        let src: Vec<u8> = (0..ROOM as u32).map(|i| (i * 7 + i / 256 + 1) as u8).collect();
        let near = |size: usize| size - 1..=size + 1;
        for len in (0..330).chain(near(512)).chain(near(1024)).chain(near(1280)).chain(near(2048)) {
            for (from, to) in [(0, 0), (1, 1), (3, 3), (0, 1), (5, 2), (7, 0)] {
                let mut dst = vec![0xAA_u8; ROOM];
                // SAFETY: at most 7 + 2049 of 3000 bytes on either side.
                unsafe { copy_to_shared(dst.as_mut_ptr().add(to), &src[from..from + len]) };
                let mut again = vec![0xAA_u8; ROOM];
                // SAFETY: as above; both vectors may be written through their pointers.
                unsafe { copy_shared(again.as_mut_ptr().add(from), dst.as_mut_ptr().add(to), len) };
                assert_eq!(again[from..from + len], dst[to..to + len]);
                assert_eq!(dst[to..to + len], src[from..from + len], "len {len} from {from} to {to}");
                assert!(dst[..to].iter().chain(&dst[to + len..]).all(|&byte| byte == 0xAA));
            }
        }
    }
}
