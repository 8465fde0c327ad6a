//! Faults and kinds of call, as a message holds them.

use super::fault::{CallKind, JobFault, Property};
use super::message::MessageError;
use super::wire::{Reader, Writer};

pub(super) fn write_call(out: &mut Writer, call: CallKind) {
    out.u8(match call {
        CallKind::AllGather => 0,
        CallKind::Barrier => 1,
        CallKind::Leave => 2,
    });
}

pub(super) fn read_call(input: &mut Reader) -> Result<CallKind, MessageError> {
    match input.u8()? {
        0 => Ok(CallKind::AllGather),
        1 => Ok(CallKind::Barrier),
        2 => Ok(CallKind::Leave),
        _ => Err(MessageError::BadField),
    }
}

pub(super) fn write_fault(out: &mut Writer, fault: &JobFault) {
    match fault {
        JobFault::Mismatch { property, odd, theirs, others, ours } => {
            out.u8(match property {
                Property::NPes => 1,
                Property::HeapSize => 2,
                Property::Backend => 3,
                Property::AllGather => 11,
            });
            out.pes(odd);
            out.text(theirs);
            out.pes(others);
            out.text(ours);
        }
        JobFault::DuplicatePe { pe, first, second } => {
            out.u8(4);
            out.usize(*pe);
            out.text(first);
            out.text(second);
        }
        JobFault::PeOutOfRange { pe, n_pes, from } => {
            out.u8(5);
            out.usize(*pe);
            out.usize(*n_pes);
            out.text(from);
        }
        JobFault::Missing { missing, after, refused } => {
            out.u8(6);
            out.pes(missing);
            out.duration(*after);
            out.u16(refused.len() as u16);
            refused.iter().for_each(|refusal| out.text(refusal));
        }
        JobFault::CallMismatch { sequence, odd, theirs, others, ours } => {
            out.u8(7);
            out.u64(*sequence);
            out.pes(odd);
            write_call(out, *theirs);
            out.pes(others);
            write_call(out, *ours);
        }
        JobFault::CallTimeout { call, missing, after } => {
            out.u8(8);
            write_call(out, *call);
            out.pes(missing);
            out.duration(*after);
        }
        JobFault::PeerLost { pe, cause } => {
            out.u8(9);
            out.usize(*pe);
            out.text(cause);
        }
        JobFault::Aborted { pe, reason } => {
            out.u8(10);
            out.usize(*pe);
            out.text(reason);
        }
    }
}

pub(super) fn read_fault(input: &mut Reader) -> Result<JobFault, MessageError> {
    Ok(match input.u8()? {
        kind @ (1..=3 | 11) => JobFault::Mismatch {
            property: match kind {
                1 => Property::NPes,
                2 => Property::HeapSize,
                3 => Property::Backend,
                _ => Property::AllGather,
            },
            odd: input.pes()?,
            theirs: input.text()?,
            others: input.pes()?,
            ours: input.text()?,
        },
        4 => JobFault::DuplicatePe { pe: input.usize()?, first: input.text()?, second: input.text()? },
        5 => JobFault::PeOutOfRange { pe: input.usize()?, n_pes: input.usize()?, from: input.text()? },
        6 => {
            let (missing, after, count) = (input.pes()?, input.duration()?, input.u16()?);
            let refused = (0..count).map(|_| input.text()).collect::<Result<_, _>>()?;
            JobFault::Missing { missing, after, refused }
        }
        7 => JobFault::CallMismatch {
            sequence: input.u64()?,
            odd: input.pes()?,
            theirs: read_call(input)?,
            others: input.pes()?,
            ours: read_call(input)?,
        },
        8 => {
            JobFault::CallTimeout { call: read_call(input)?, missing: input.pes()?, after: input.duration()? }
        }
        9 => JobFault::PeerLost { pe: input.usize()?, cause: input.text()? },
        10 => JobFault::Aborted { pe: input.usize()?, reason: input.text()? },
        _ => return Err(MessageError::BadField),
    })
}
