//! What the PEs and the rendezvous say to each other. Decoding takes any bytes without harm.

use std::time::Duration;

use bytes::{Bytes, BytesMut};

use super::fault::{CallKind, JobFault};
use super::fault_wire::{read_call, read_fault, write_call, write_fault};
use super::frame::{FrameTooLong, frame_with};
use super::join_spec::JoinSpec;
use super::wire::{Reader, Writer};

/// Drawn anew for every connection, by each side.
pub type Nonce = [u8; 32];
/// An HMAC-SHA256 by the job's secret.
pub type Proof = [u8; 32];

/// What every first message begins with.
pub const MAGIC: [u8; 8] = *b"shmemBS\n";
/// Both sides must have the same.
pub const VERSION: u16 = 2;

/// Why bytes are no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// Ends too soon.
    #[error("sent a message that ends too soon; it does not speak this protocol")]
    TooShort,
    /// Goes on after its end.
    #[error("sent a message with bytes after its end; it does not speak this protocol")]
    TooLong,
    /// An unknown kind.
    #[error("sent a message of the unknown kind {0}; it does not speak this protocol")]
    UnknownKind(u8),
    /// A field with an impossible value.
    #[error("sent a message with an impossible field; it does not speak this protocol")]
    BadField,
}

/// What a PE says of itself when it joins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Details {
    /// Its number.
    pub pe: usize,
    /// How many PEs it believes there are.
    pub n_pes: usize,
    /// Bytes of its symmetric heap.
    pub heap_size: u64,
    /// Its deadline for every call.
    pub timeout: Duration,
    /// Its job.
    pub job_id: String,
    /// Its backend.
    pub backend: String,
    /// How it does AllGathers whose algorithm the program leaves open, by name: another build may know more of them.
    pub all_gather: String,
}

/// From a PE to the rendezvous.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToServer {
    /// The first message.
    Hello {
        /// The client's version of the protocol.
        version: u16,
        /// The client's nonce.
        nonce: Nonce,
    },
    /// The second one.
    Join {
        /// Who the client is.
        details: Details,
        /// That it knows the secret, if there is one.
        proof: Option<Proof>,
    },
    /// Arrives in a collective call.
    Contribute {
        /// Which call, from 0.
        sequence: u64,
        /// What kind of call.
        call: CallKind,
        /// The payload of an allgather, else empty.
        payload: Bytes,
    },
    /// Gives up.
    Abort {
        /// Why.
        reason: String,
    },
}

/// From the rendezvous to a PE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToClient {
    /// The answer to `Hello`.
    Challenge {
        /// The server's version of the protocol.
        version: u16,
        /// The server's nonce.
        nonce: Nonce,
        /// Whether `Join` must hold a proof.
        secret_needed: bool,
    },
    /// This connection is not of the job. The one message that every version of the protocol understands.
    Refused {
        /// Why.
        reason: String,
    },
    /// The answer to `Join`: the client is one of the job.
    Accepted {
        /// That the server knows the secret, if there is one.
        proof: Option<Proof>,
        /// How long until all must have joined.
        time_left: Duration,
    },
    /// All have joined.
    Welcome,
    /// A part of an allgather's result, in PE order; the last part ends with PE n-1.
    Gathered {
        /// Which call.
        sequence: u64,
        /// The PE of the first payload.
        first_pe: usize,
        /// Payloads of that PE and those after it.
        payloads: Vec<Bytes>,
    },
    /// All are in the barrier.
    Released {
        /// Which call.
        sequence: u64,
    },
    /// All have called leave.
    Goodbye,
    /// A PE is gone.
    Lost {
        /// Which.
        pe: usize,
        /// Why.
        cause: String,
    },
    /// The job is over.
    Failed(JobFault),
}

impl From<&JoinSpec> for Details {
    fn from(spec: &JoinSpec) -> Self {
        Self {
            pe: spec.my_pe,
            n_pes: spec.n_pes,
            heap_size: spec.heap_size,
            timeout: spec.timeout,
            job_id: spec.job_id.clone(),
            backend: spec.backend.clone(),
            all_gather: spec.all_gather.to_string(),
        }
    }
}

impl Details {
    pub(crate) fn encode(&self) -> Bytes {
        let mut out = Writer(BytesMut::new());
        self.write(&mut out);
        out.0.freeze()
    }

    fn write(&self, out: &mut Writer) {
        out.usize(self.pe);
        out.usize(self.n_pes);
        out.u64(self.heap_size);
        out.duration(self.timeout);
        out.text(&self.job_id);
        out.text(&self.backend);
        out.text(&self.all_gather);
    }

    fn read(input: &mut Reader) -> Result<Self, MessageError> {
        Ok(Self {
            pe: input.usize()?,
            n_pes: input.usize()?,
            heap_size: input.u64()?,
            timeout: input.duration()?,
            job_id: input.text()?,
            backend: input.text()?,
            all_gather: input.text()?,
        })
    }
}

impl ToServer {
    /// A frame with this message.
    ///
    /// # Errors
    /// If a payload is too long for a frame.
    pub fn encode(&self) -> Result<Bytes, FrameTooLong> {
        encode(|out| match self {
            Self::Hello { version, nonce } => {
                out.u8(1);
                out.raw(&MAGIC);
                out.u16(*version);
                out.raw(nonce);
            }
            Self::Join { details, proof } => {
                out.u8(2);
                details.write(out);
                write_proof(out, proof.as_ref());
            }
            Self::Contribute { sequence, call, payload } => {
                out.u8(3);
                out.u64(*sequence);
                write_call(out, *call);
                out.bytes(payload);
            }
            Self::Abort { reason } => {
                out.u8(4);
                out.text(reason);
            }
        })
    }

    /// The message in a frame's contents; any bytes may be given.
    ///
    /// # Errors
    /// If they are no such message.
    pub fn decode(contents: Bytes) -> Result<Self, MessageError> {
        let mut input = Reader(contents);
        let message = match input.u8()? {
            1 => {
                read_magic(&mut input)?;
                Self::Hello { version: input.u16()?, nonce: input.array()? }
            }
            2 => Self::Join { details: Details::read(&mut input)?, proof: read_proof(&mut input)? },
            3 => Self::Contribute {
                sequence: input.u64()?,
                call: read_call(&mut input)?,
                payload: input.bytes()?,
            },
            4 => Self::Abort { reason: input.text()? },
            kind => return Err(MessageError::UnknownKind(kind)),
        };
        input.end()?;
        Ok(message)
    }
}

impl ToClient {
    /// A frame with this message.
    ///
    /// # Errors
    /// If it is too long for a frame.
    pub fn encode(&self) -> Result<Bytes, FrameTooLong> {
        encode(|out| match self {
            Self::Challenge { version, nonce, secret_needed } => {
                out.u8(1);
                out.raw(&MAGIC);
                out.u16(*version);
                out.raw(nonce);
                out.u8(u8::from(*secret_needed));
            }
            Self::Refused { reason } => {
                out.u8(2);
                out.raw(&MAGIC);
                out.text(reason);
            }
            Self::Accepted { proof, time_left } => {
                out.u8(3);
                write_proof(out, proof.as_ref());
                out.duration(*time_left);
            }
            Self::Welcome => out.u8(4),
            Self::Gathered { sequence, first_pe, payloads } => {
                out.u8(5);
                out.u64(*sequence);
                out.usize(*first_pe);
                out.u32(payloads.len() as u32);
                payloads.iter().for_each(|payload| out.bytes(payload));
            }
            Self::Released { sequence } => {
                out.u8(6);
                out.u64(*sequence);
            }
            Self::Goodbye => out.u8(7),
            Self::Lost { pe, cause } => {
                out.u8(8);
                out.usize(*pe);
                out.text(cause);
            }
            Self::Failed(fault) => {
                out.u8(9);
                write_fault(out, fault);
            }
        })
    }

    /// The message in a frame's contents; any bytes may be given.
    ///
    /// # Errors
    /// If they are no such message.
    pub fn decode(contents: Bytes) -> Result<Self, MessageError> {
        let mut input = Reader(contents);
        let message = match input.u8()? {
            1 => {
                read_magic(&mut input)?;
                let (version, nonce) = (input.u16()?, input.array()?);
                Self::Challenge { version, nonce, secret_needed: read_bool(&mut input)? }
            }
            2 => {
                read_magic(&mut input)?;
                Self::Refused { reason: input.text()? }
            }
            3 => Self::Accepted { proof: read_proof(&mut input)?, time_left: input.duration()? },
            4 => Self::Welcome,
            5 => {
                let (sequence, first_pe, count) = (input.u64()?, input.usize()?, input.u32()?);
                // Each takes at least its length: so many cannot be claimed without being sent.
                let payloads = (0..count).map(|_| input.bytes()).collect::<Result<_, _>>()?;
                Self::Gathered { sequence, first_pe, payloads }
            }
            6 => Self::Released { sequence: input.u64()? },
            7 => Self::Goodbye,
            8 => Self::Lost { pe: input.usize()?, cause: input.text()? },
            9 => Self::Failed(read_fault(&mut input)?),
            kind => return Err(MessageError::UnknownKind(kind)),
        };
        input.end()?;
        Ok(message)
    }
}

fn encode(fill: impl FnOnce(&mut Writer)) -> Result<Bytes, FrameTooLong> {
    frame_with(|buffer| {
        let mut out = Writer(std::mem::take(buffer));
        fill(&mut out);
        *buffer = out.0;
    })
}

fn read_magic(input: &mut Reader) -> Result<(), MessageError> {
    if input.array()? == MAGIC { Ok(()) } else { Err(MessageError::BadField) }
}

fn read_bool(input: &mut Reader) -> Result<bool, MessageError> {
    match input.u8()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(MessageError::BadField),
    }
}

fn write_proof(out: &mut Writer, proof: Option<&Proof>) {
    out.u8(u8::from(proof.is_some()));
    if let Some(proof) = proof {
        out.raw(proof);
    }
}

fn read_proof(input: &mut Reader) -> Result<Option<Proof>, MessageError> {
    if read_bool(input)? { input.array().map(Some) } else { Ok(None) }
}
