//! Which processors a process may run on, so that PEs of one host can tell how many they have between them.

/// The processors that one PE may run on. A launcher often binds each PE to its own, so that one alone knows of one only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessorSet {
    /// A bit for each, from the lowest; empty if it is not known which.
    mask: Vec<u8>,
    /// How many it can use at a time, if that is less: a container's share of their time. 0 if it is not.
    at_a_time: u16,
}

/// The most bytes of a mask: 1024 processors, as the system call has it.
const MOST: usize = 128;

impl ProcessorSet {
    /// Those of this process.
    #[must_use]
    pub fn of_this_process() -> Self {
        let parallel = std::thread::available_parallelism().map_or(1, usize::from);
        let mut mask = vec![0_u8; MOST];
        if let Ok(set) = rustix::thread::sched_getaffinity(None) {
            for processor in (0..8 * MOST).filter(|&processor| set.is_set(processor)) {
                mask[processor / 8] |= 1 << (processor % 8);
            }
        }
        let used = mask.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        mask.truncate(used);
        let limited = count(&mask) == 0 || parallel < count(&mask);
        let at_a_time = if limited { u16::try_from(parallel).unwrap_or(u16::MAX) } else { 0 };
        Self { mask, at_a_time }
    }

    /// How many processors there are for those that said these, all of one host; at least 1.
    #[must_use]
    pub fn for_all<'a>(sets: impl IntoIterator<Item = &'a Self>) -> usize {
        let (mut union, mut least) = (vec![0_u8; MOST], usize::MAX);
        for set in sets {
            if set.at_a_time != 0 {
                least = least.min(set.at_a_time.into());
            }
            union.iter_mut().zip(&set.mask).for_each(|(all, own)| *all |= own);
        }
        let known = count(&union);
        (if known == 0 { least } else { known.min(least) }).clamp(1, 8 * MOST)
    }

    /// For other PEs.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = self.at_a_time.to_le_bytes().to_vec();
        bytes.extend_from_slice(&self.mask);
        bytes
    }

    /// What [`encode`](Self::encode) made; `None` if it is nothing like it.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (at_a_time, mask) = bytes.split_first_chunk()?;
        let at_a_time = u16::from_le_bytes(*at_a_time);
        (mask.len() <= MOST).then(|| Self { mask: mask.to_vec(), at_a_time })
    }
}

fn count(mask: &[u8]) -> usize {
    mask.iter().map(|byte| byte.count_ones() as usize).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(mask: &[u8], at_a_time: u16) -> ProcessorSet {
        ProcessorSet { mask: mask.to_vec(), at_a_time }
    }

    #[test]
    fn pes_that_are_bound_to_one_each_have_several_between_them() {
        let bound = [set(&[1], 0), set(&[2], 0), set(&[0, 0, 4], 0)];
        assert_eq!(ProcessorSet::for_all(&bound), 3);
        assert_eq!(ProcessorSet::for_all(&[set(&[1], 0), set(&[1], 0)]), 1);
        assert_eq!(ProcessorSet::for_all(&[set(&[15], 0), set(&[3], 0)]), 4);
    }

    #[test]
    fn a_share_of_their_time_counts_and_what_is_not_known_is_one() {
        assert_eq!(ProcessorSet::for_all(&[set(&[255], 2), set(&[255], 2)]), 2);
        assert_eq!(ProcessorSet::for_all(&[set(&[], 4)]), 4);
        assert_eq!(ProcessorSet::for_all(&[set(&[1], 0), set(&[], 6)]), 1);
        assert_eq!(ProcessorSet::for_all([]), 1024);
    }

    #[test]
    fn this_process_has_some_and_says_so() {
        let own = ProcessorSet::of_this_process();
        assert_eq!(ProcessorSet::decode(&own.encode()), Some(own.clone()));
        let here = std::thread::available_parallelism().map_or(1, usize::from);
        assert_eq!(ProcessorSet::for_all(&[own]), here.min(1024));
        assert_eq!(ProcessorSet::decode(&[1]), None);
        assert_eq!(ProcessorSet::decode(&[0; 131]), None);
    }
}
