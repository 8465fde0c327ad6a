//! What a [`Bootstrap`](super::Bootstrap) asks its thread to do.

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use super::error::BootstrapError;
use super::fault::CallKind;
use super::peer_lost::PeerLost;

/// The result of a collective call: the payloads of an allgather, nothing for the others.
pub(crate) type CallResult = Result<Vec<Bytes>, BootstrapError>;
/// Who wants to hear of lost PEs.
pub(crate) type LostHook = Box<dyn Fn(PeerLost) + Send + Sync>;

/// One request. That the channel closes is the last one: end.
pub(crate) enum Command {
    Call { call: CallKind, payload: Bytes, reply: oneshot::Sender<CallResult> },
    Abort(String),
    OnPeerLost(LostHook),
}

pub(crate) type Commands = mpsc::UnboundedReceiver<Command>;
