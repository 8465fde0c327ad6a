//! What happened, as a story.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::ops::Range;

use super::event::{Event, OpId, OpKind, Place};

/// All lines of one schedule, with the number of the step in which each happened.
#[derive(Debug, Clone, Default)]
pub(crate) struct Timeline {
    first: Vec<(u64, String)>,
    /// The last, when there are more than are shown.
    last: VecDeque<(u64, String)>,
    /// Lines between them.
    hidden: usize,
    /// The step that is being done.
    pub(crate) step: u64,
    /// Lines of the set-up, which are not kept.
    skipped: usize,
    /// What each operation is, where it reads, and where it writes.
    ops: BTreeMap<OpId, (&'static str, usize, usize)>,
}

/// So many lines at the start and at the end of a long one are shown.
const SHOWN_FIRST: usize = 60;
const SHOWN_LAST: usize = 140;

impl Timeline {
    pub(crate) fn push(&mut self, line: String) {
        let line = (self.step, line);
        if self.first.len() < SHOWN_FIRST {
            return self.first.push(line);
        }
        if self.last.len() == SHOWN_LAST {
            self.last.pop_front();
            self.hidden += 1;
        }
        self.last.push_back(line);
    }

    /// What came so far was the set-up.
    pub(crate) fn forget(&mut self) {
        self.skipped += self.first.len() + self.hidden + self.last.len();
        self.first.clear();
        self.last.clear();
        self.hidden = 0;
    }

    pub(crate) fn event(&mut self, event: &Event) {
        if let Event::Posted { id, kind, .. } = event {
            let op = match kind {
                OpKind::Put { to, .. } | OpKind::PutBytes { to, .. } | OpKind::PutMarked { to, .. } => {
                    ("put", id.pe, *to)
                }
                OpKind::Get { from, .. } => ("get", *from, id.pe),
                OpKind::Signal { to, .. } => ("signal", id.pe, *to),
                OpKind::Atomic { to, .. } => ("atomic", id.pe, *to),
            };
            self.ops.insert(*id, op);
        }
        let line = self.line(event);
        self.push(line);
    }

    /// One event, one line.
    fn line(&self, event: &Event) -> String {
        let op = |id: &OpId| self.ops.get(id).copied().unwrap_or(("operation", id.pe, id.pe));
        let of = |id: &OpId| format!("{} #{} of PE {}", op(id).0, id.number, id.pe);
        match event {
            // An atomic is a future: where it was first polled is not where it was called.
            Event::Posted { id, kind: kind @ OpKind::Atomic { .. }, .. } => {
                format!("PE {} posts {}", id.pe, posted(kind, id.number))
            }
            Event::Posted { id, kind, place, .. } => {
                format!("PE {} posts {}, {}", id.pe, posted(kind, id.number), short(place))
            }
            Event::Fetched { id, range } => format!("{} reads {} of PE {}", of(id), at(range), op(id).1),
            Event::Landed { id, range } => format!("{} lands at PE {}, {}", of(id), op(id).2, at(range)),
            Event::Completed { id } => format!("{} is complete", of(id)),
            Event::Quiet { pe, before } => format!("PE {pe} knows all before #{before} to be complete"),
            Event::BarrierEntered { pe, epoch } => format!("PE {pe} enters barrier {epoch}"),
            Event::BarrierLeft { pe, epoch } => format!("PE {pe} leaves barrier {epoch}"),
            Event::SignalSeen { pe, word, cmp, value, .. } => {
                format!("PE {pe} sees {value} in the word at +{word} ({} was awaited)", cmp.symbol())
            }
            Event::AtomicAnswered { id, value } => format!("{} answers {value}", of(id)),
            Event::Read { pe, range, place } => format!("PE {pe} reads {}, {}", at(range), short(place)),
            Event::Written { pe, range, place } => format!("PE {pe} writes {}, {}", at(range), short(place)),
            Event::Loaded { pe, word, place, .. } => {
                format!("PE {pe} loads the word at +{word}, {}", short(place))
            }
            Event::Ended { pe } => format!("PE {pe} ends"),
        }
    }
}

/// `file.rs:12`.
fn short(place: Place) -> String {
    let file = place.file().rsplit(['/', '\\']).next().unwrap_or_default();
    format!("{file}:{}", place.line())
}

fn at(range: &Range<u64>) -> String {
    format!("+{}..+{}", range.start, range.end)
}

fn posted(kind: &OpKind, number: u64) -> String {
    let bytes = |range: &Range<u64>| range.end - range.start;
    match kind {
        OpKind::Put { to, local, remote } => {
            let (len, from, at) = (bytes(local), local.start, remote.start);
            format!("put #{number} ({len} B at +{from} to PE {to} +{at})")
        }
        OpKind::PutBytes { to, remote } => {
            format!("put #{number} ({} B of its own to PE {to} +{})", bytes(remote), remote.start)
        }
        OpKind::PutMarked { to, local, word, bytes } => {
            format!(
                "put #{number} (bytes {bytes:#018x} of the word at +{local} to that of PE {to} at +{word})"
            )
        }
        OpKind::Get { from, local, remote } => {
            let (len, at, to) = (bytes(local), remote.start, local.start);
            format!("get #{number} ({len} B of PE {from} at +{at} to +{to})")
        }
        OpKind::Signal { to, word, op, after } => {
            let behind = after.map(|data| format!(", behind #{}", data.number)).unwrap_or_default();
            format!("signal #{number} ({op:?} of the word of PE {to} at +{word}{behind})")
        }
        OpKind::Atomic { to, word, op } => {
            format!("atomic #{number} ({op:?} of the word of PE {to} at +{word})")
        }
    }
}

impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.skipped > 0 {
            writeln!(f, "      (before begin, {} lines)", self.skipped)?;
        }
        for (step, text) in &self.first {
            writeln!(f, "{step:>5}  {text}")?;
        }
        if self.hidden > 0 {
            writeln!(f, "       ... {} lines ...", self.hidden)?;
        }
        self.last.iter().try_for_each(|(step, text)| writeln!(f, "{step:>5}  {text}"))
    }
}
