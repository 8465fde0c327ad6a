//! Bytes that tell by themselves that they have come.
//!
//! A byte of it carries 7 bits of data and a mark, and is never 0. Its place was 0 before, so whoever sees a byte that is not 0 has
//! it: no flag behind the data, so no second message, no order among bytes, and nothing that a network could tear. 7 bytes of data
//! make a word of 8, which is whole when all its marks are there.

/// Bytes of data in a word.
const DATA: usize = 7;
/// The mark of each byte of a word.
const MARKS: u64 = 0x8080_8080_8080_8080;
/// Words that are made and read at a time: few enough for registers, many enough for vectors.
pub(super) const BLOCK: usize = 8;
/// Bytes of data in a block.
pub(super) const BLOCK_DATA: usize = BLOCK * DATA;

/// The data of a block, and a byte more, so that each 7 of them can be reached by a load of 8. Aligned, so that it is copied by words.
#[derive(Debug, Clone, Copy)]
#[repr(align(8))]
pub(super) struct BlockData(pub(super) [u8; BLOCK_DATA + 1]);

/// The most words of one message.
pub(crate) const MOST_WORDS: usize = 64;

/// How many words `len` bytes of data take. No data is a word too: that it has come is news.
#[inline]
pub(crate) const fn words(len: u64) -> u64 {
    let words = len.div_ceil(DATA as u64);
    if words == 0 { 1 } else { words }
}

/// Whether all bytes of a word have come.
#[inline]
pub(crate) const fn is_whole(word: u64) -> bool {
    word & MARKS == MARKS
}

/// The first [`BLOCK_DATA`] bytes as words.
#[inline]
pub(super) fn mark(data: &BlockData) -> [u64; BLOCK] {
    std::array::from_fn(|word| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&data.0[word * DATA..word * DATA + 8]);
        spread(u64::from_le_bytes(bytes)) | MARKS
    })
}

/// The data of whole words, in the first [`BLOCK_DATA`] bytes.
#[inline]
pub(super) fn unmark(words: &[u64; BLOCK]) -> BlockData {
    let mut data = BlockData([0; BLOCK_DATA + 1]);
    for (at, &word) in words.iter().enumerate() {
        // Its eighth byte is 0, and makes room for the first of the next.
        data.0[at * DATA..at * DATA + 8].copy_from_slice(&gather(word & !MARKS).to_le_bytes());
    }
    data
}

/// The lower 56 bits to eight times seven: by halves.
#[inline]
const fn spread(bits: u64) -> u64 {
    let halves = (bits & 0x0FFF_FFFF) | (bits >> 28) << 32;
    let quarters = (halves & 0x0000_3FFF_0000_3FFF) | (halves & 0x0FFF_C000_0FFF_C000) << 2;
    (quarters & 0x007F_007F_007F_007F) | (quarters & 0x3F80_3F80_3F80_3F80) << 1
}

/// The reverse of [`spread`].
#[inline]
const fn gather(bits: u64) -> u64 {
    let quarters = (bits & 0x007F_007F_007F_007F) | (bits & 0x7F00_7F00_7F00_7F00) >> 1;
    let halves = (quarters & 0x0000_3FFF_0000_3FFF) | (quarters & 0x3FFF_0000_3FFF_0000) >> 2;
    (halves & 0x0FFF_FFFF) | (halves >> 32) << 28
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The most data of one message.
    const MOST_DATA: usize = MOST_WORDS * DATA;

    #[test]
    fn each_bit_has_a_place_of_its_own() {
        let mut seen = 0;
        for bit in 0..56 {
            let place = spread(1 << bit);
            assert_eq!((place.count_ones(), place & (MARKS | seen)), (1, 0), "bit {bit}");
            assert_eq!(gather(place), 1 << bit);
            seen |= place;
        }
    }

    #[test]
    fn a_word_is_whole_when_each_byte_is_there() {
        for byte in [0, 0x80, 0xFF, 0x65] {
            for word in mark(&BlockData([byte; BLOCK_DATA + 1])) {
                assert!(is_whole(word));
                for byte in 0..8 {
                    assert!(!is_whole(word & !(0xFF << (8 * byte))));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn data_comes_back(data in proptest::collection::vec(any::<u8>(), 0..=MOST_DATA)) {
            let (mut back, mut words) = (Vec::new(), 0);
            for part in data.chunks(BLOCK_DATA) {
                let mut block = BlockData([0; BLOCK_DATA + 1]);
                block.0[..part.len()].copy_from_slice(part);
                let marked = mark(&block);
                prop_assert!(marked.iter().all(|&word| is_whole(word)));
                // What is not sent arrives as nothing.
                let sent = super::words(part.len() as u64) as usize;
                let arrived = std::array::from_fn(|word| if word < sent { marked[word] } else { 0 });
                back.extend_from_slice(&unmark(&arrived).0[..part.len()]);
                words += sent;
            }
            prop_assert_eq!(&back, &data);
            prop_assert_eq!(words.max(1), super::words(data.len() as u64) as usize);
        }
    }
}
