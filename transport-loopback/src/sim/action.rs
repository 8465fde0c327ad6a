//! What the scheduler chooses among.

use std::fmt;
use std::str::FromStr;

/// One thing that can happen next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Action {
    /// The PE goes on.
    Poll(u32),
    /// The next step of a piece of the message in this slot of the world.
    Net {
        /// The slot.
        slot: u32,
        /// The piece.
        piece: u8,
    },
}

/// An action as a [`Schedule`](super::Schedule) names it: by what the PEs have posted, not by where the world keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Name {
    /// The PE goes on.
    Poll(u32),
    /// The next step of a piece of what `pe` sent as its message `number`.
    Net {
        /// Who sent it.
        pe: u32,
        /// Its number among all messages of that PE, from 0.
        number: u64,
        /// The piece.
        piece: u8,
    },
}

/// Such as `p1`, `m0.5`, `m0.5.1`.
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Poll(pe) => write!(f, "p{pe}"),
            Self::Net { pe, number, piece: 0 } => write!(f, "m{pe}.{number}"),
            Self::Net { pe, number, piece } => write!(f, "m{pe}.{number}.{piece}"),
        }
    }
}

impl FromStr for Name {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if let Some(pe) = text.strip_prefix('p') {
            return pe.parse().map(Self::Poll).map_err(drop);
        }
        let mut parts = text.strip_prefix('m').ok_or(())?.split('.');
        let pe = parts.next().and_then(|part| part.parse().ok()).ok_or(())?;
        let number = parts.next().and_then(|part| part.parse().ok()).ok_or(())?;
        let piece = parts.next().map_or(Ok(0), |part| part.parse().map_err(drop))?;
        if parts.next().is_some() { Err(()) } else { Ok(Self::Net { pe, number, piece }) }
    }
}
