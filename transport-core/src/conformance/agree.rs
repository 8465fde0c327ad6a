//! Telling each other after a case what came out, so that every PE reports the failure of any.

use super::failure::Failure;
use crate::error::Result;
use crate::heap::SymSlice;
use crate::transport::Transport;

/// Bytes of one PE's result: a length, and so much of the text as fits.
const RESULT: usize = 512;
const LENGTH: usize = 2;

/// The places of the results, two for each PE: while one PE still reads those of a case, another may already write
/// those of the next; it cannot write those of the next but one, for which it needs the barrier between.
pub(super) struct Results {
    places: SymSlice<u8>,
    turn: usize,
}

impl Results {
    /// Collective.
    pub(super) async fn new<X: Transport>(pe: &X) -> Result<Self> {
        Ok(Self { places: pe.calloc(2 * pe.n_pes() * RESULT).await?, turn: 0 })
    }

    /// Collective: what all PEs found; `mine` is what this one did.
    pub(super) async fn exchange<X: Transport>(
        &mut self,
        pe: &X,
        case: &'static str,
        mine: Option<&str>,
    ) -> Result<Vec<Failure>> {
        let (my_pe, n_pes) = (pe.my_pe(), pe.n_pes());
        let places = self.places.part(self.turn % 2, 2)?;
        self.turn += 1;
        let my_place = places.part(my_pe, n_pes)?;
        pe.heap().write(my_place, &encode(mine.unwrap_or_default()))?;
        for other in (0..n_pes).filter(|&other| other != my_pe) {
            pe.put_nbi(my_place, my_place, other)?;
        }
        pe.barrier_all().await?;
        let all = pe.heap().read_vec(places)?;
        let texts = all.chunks(RESULT).map(decode).enumerate();
        Ok(texts.filter_map(|(pe, text)| Some(Failure { case, pe, mismatch: text? })).collect())
    }

    /// Collective.
    pub(super) async fn free<X: Transport>(self, pe: &X) -> Result<()> {
        pe.free(self.places).await
    }
}

fn encode(text: &str) -> [u8; RESULT] {
    let mut result = [0; RESULT];
    let most = RESULT - LENGTH;
    let len = (0..=most.min(text.len())).rev().find(|&len| text.is_char_boundary(len)).unwrap_or(0);
    result[..LENGTH].copy_from_slice(&(len as u16).to_le_bytes());
    result[LENGTH..LENGTH + len].copy_from_slice(&text.as_bytes()[..len]);
    result
}

/// `None` for a PE that found nothing wrong. A result that arrived damaged is a failure too.
fn decode(result: &[u8]) -> Option<String> {
    let len = usize::from(u16::from_le_bytes([result[0], result[1]]));
    let text = result.get(LENGTH..LENGTH + len).unwrap_or(b"its result arrived damaged");
    (len > 0).then(|| String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_travel_cut_at_a_character() {
        assert_eq!(decode(&encode("")), None);
        assert_eq!(decode(&encode("a bad byte")).as_deref(), Some("a bad byte"));
        let long = decode(&encode(&"ä".repeat(400))).unwrap();
        assert!(long.len() <= RESULT - LENGTH && long.chars().all(|c| c == 'ä'));
    }
}
