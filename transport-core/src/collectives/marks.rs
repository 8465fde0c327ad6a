//! Bytes that tell by themselves that they have come.
//!
//! A byte of it carries 7 bits of data and a mark, and is never 0. Its place was 0 before, so whoever sees a byte that is not 0 has
//! it: no flag behind the data, so no second message, no order among bytes, and nothing that a network could tear. 7 bytes of data
//! make a word of 8, which is whole when all its marks are there.

/// Bytes of data in a word.
const DATA: usize = 7;
/// The mark of each byte of a word.
const MARKS: u64 = 0x8080_8080_8080_8080;
/// The most data of one message.
pub(crate) const MOST_DATA: usize = MOST_WORDS * DATA;
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

/// Data as words: the first [`words`] of the answer.
#[inline]
pub(crate) fn mark(data: &[u8]) -> [u64; MOST_WORDS] {
    let mut words = [MARKS; MOST_WORDS];
    for (word, data) in words.iter_mut().zip(data.chunks(DATA)) {
        let mut bytes = [0; 8];
        bytes[..data.len()].copy_from_slice(data);
        *word = spread(u64::from_le_bytes(bytes)) | MARKS;
    }
    words
}

/// The data of a whole word; what is not data is 0.
#[inline]
pub(crate) fn unmark(word: u64) -> [u8; DATA] {
    let bytes = gather(word & !MARKS).to_le_bytes();
    [bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6]]
}

/// 56 bits to eight times seven: by halves.
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
        for data in [[0; DATA], [0xFF; DATA], [0x80; DATA], *b"example"] {
            let word = mark(&data)[0];
            assert!(is_whole(word));
            for byte in 0..8 {
                assert!(!is_whole(word & !(0xFF << (8 * byte))));
            }
        }
    }

    proptest! {
        #[test]
        fn data_comes_back(data in proptest::collection::vec(any::<u8>(), 0..=MOST_DATA)) {
            let words = &mark(&data)[..super::words(data.len() as u64) as usize];
            let back: Vec<u8> = words.iter().flat_map(|&word| unmark(word)).take(data.len()).collect();
            prop_assert_eq!(back, data);
            prop_assert!(words.iter().all(|&word| is_whole(word)));
        }
    }
}
