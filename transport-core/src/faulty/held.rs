//! Operations that are held back, and which of them may go in which order.

use std::time::Instant;

use super::operation::Operation;

#[derive(Debug)]
pub(super) struct Held<O = Operation> {
    pub(super) operation: O,
    /// The PE that it is for.
    pub(super) pe: usize,
    /// How many fences came before it.
    pub(super) epoch: u64,
    /// It goes at the latest when this PE has come to this operation.
    pub(super) due: u64,
    pub(super) since: Instant,
    /// Its place among those that no fence orders.
    pub(super) order: u64,
}

/// What is held, and the fences between.
#[derive(Debug)]
pub(super) struct HeldBack<O = Operation> {
    held: Vec<Held<O>>,
    /// How many fences there were.
    pub(super) epoch: u64,
    /// The lowest epoch of what was posted since the inner transport's last fence.
    unfenced: Option<u64>,
}

impl<O> Default for HeldBack<O> {
    fn default() -> Self {
        Self { held: Vec::new(), epoch: 0, unfenced: None }
    }
}

impl<O> HeldBack<O> {
    pub(super) fn push(&mut self, held: Held<O>) {
        self.held.push(held);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Held<O>> {
        self.held.iter()
    }

    /// Forgets what is for `pe`, or all.
    pub(super) fn forget(&mut self, pe: Option<usize>) {
        self.held.retain(|held| pe.is_some_and(|pe| held.pe != pe));
    }

    /// Takes those that are `ripe`, and those that a fence orders before one of them, in an order that the contract allows.
    pub(super) fn take(&mut self, ripe: impl Fn(&Held<O>) -> bool) -> Vec<Held<O>> {
        let goes = |held: &Held<O>| {
            let behind = |other: &Held<O>| other.pe == held.pe && other.epoch > held.epoch;
            ripe(held) || self.held.iter().any(|other| behind(other) && ripe(other))
        };
        let goes: Vec<bool> = self.held.iter().map(goes).collect();
        let mut goes = goes.into_iter();
        let mut taken: Vec<Held<O>> = self.held.extract_if(.., |_| goes.next().unwrap_or(false)).collect();
        taken.sort_by_key(|held| (held.epoch, held.order));
        taken
    }

    /// Whether the inner transport needs a fence before something of `epoch` is posted, which is then posted.
    pub(super) fn needs_fence(&mut self, epoch: u64) -> bool {
        let needed = self.unfenced.is_some_and(|lowest| lowest < epoch);
        self.unfenced = match self.unfenced {
            Some(lowest) if !needed => Some(lowest.min(epoch)),
            _ => Some(epoch),
        };
        needed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(pe: usize, epoch: u64, order: u64) -> Held<()> {
        Held { operation: (), pe, epoch, due: 0, since: Instant::now(), order }
    }

    fn back(all: &[(usize, u64, u64)]) -> HeldBack<()> {
        let mut back = HeldBack::default();
        all.iter().for_each(|&(pe, epoch, order)| back.push(held(pe, epoch, order)));
        back
    }

    fn orders(taken: Vec<Held<()>>) -> Vec<u64> {
        taken.into_iter().map(|held| held.order).collect()
    }

    #[test]
    fn what_a_fence_orders_before_goes_before() {
        let all = [(1, 0, 9), (2, 0, 8), (1, 1, 1), (1, 0, 5), (1, 2, 0), (2, 2, 2)];
        let mut back = back(&all);
        // Its own PE's earlier ones come along, those of the other do not, nor what is later.
        assert_eq!(orders(back.take(|held| held.order == 1)), [5, 9, 1]);
        assert_eq!(back.iter().count(), 3);
        assert_eq!(orders(back.take(|_| true)), [8, 0, 2]);
        assert_eq!(back.iter().count(), 0);
    }

    #[test]
    fn the_inner_transport_is_fenced_where_epochs_change() {
        let mut back = HeldBack::<()>::default();
        let needed = [0, 0, 1, 1, 0, 1, 3, 2, 3].map(|epoch| back.needs_fence(epoch));
        assert_eq!(needed, [false, false, true, false, false, true, true, false, true]);
    }

    #[test]
    fn a_lost_pe_is_forgotten_alone() {
        let mut back = back(&[(1, 0, 0), (2, 0, 1)]);
        back.forget(Some(1));
        assert_eq!(back.iter().map(|held| held.pe).collect::<Vec<_>>(), [2]);
        back.forget(None);
        assert_eq!(back.iter().count(), 0);
    }
}
