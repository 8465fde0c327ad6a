//! The name of a request: its link and its number there, in the 64 bits that a completion gives back.

/// Bits of the number that a name has.
const BITS: u32 = 40;
const MASK: u64 = (1 << BITS) - 1;

/// How many links an engine can have.
pub(crate) const MAX_LINKS: usize = 1 << (64 - BITS);

/// The name of request `number` of link `link`.
#[inline]
pub(crate) fn name(link: usize, number: u64) -> u64 {
    (link as u64) << BITS | number & MASK
}

/// The link of a request.
#[inline]
pub(crate) fn link(name: u64) -> usize {
    (name >> BITS) as usize
}

/// The number of a request, of which it is known that it is not below `at_least`, and less than 2^40 above.
#[inline]
pub(crate) fn number(name: u64, at_least: u64) -> u64 {
    at_least.wrapping_add((name & MASK).wrapping_sub(at_least) & MASK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_gives_back_link_and_number_across_the_wrap() {
        for at_least in [0, 5, MASK - 1, MASK, MASK + 1, 3 * MASK, u64::MAX - 2, u64::MAX] {
            for ahead in [0, 1, 2, 1000, MASK] {
                let number_ = at_least.wrapping_add(ahead);
                let name = name(MAX_LINKS - 1, number_);
                assert_eq!((link(name), number(name, at_least)), (MAX_LINKS - 1, number_));
            }
        }
    }

    proptest! {
        #[test]
        fn any_name_gives_back_what_it_was_made_of(l in 0..MAX_LINKS, at_least: u64, ahead in 0..=MASK) {
            let n = at_least.wrapping_add(ahead);
            prop_assert_eq!((link(name(l, n)), number(name(l, n), at_least)), (l, n));
        }
    }
}
