//! Why the file does not tell the NIC of an NPU, and what to do.

use std::fmt::Write;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use super::shown::first;

/// The most NPUs or addresses that are listed.
const MAX_LISTED: usize = 16;
/// The most characters of what the JSON reader says.
const MAX_CHARS: usize = 200;

/// Why the root info file of an Ascend950 host does not tell the NIC of an NPU.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RootInfoError {
    /// It is there, but cannot be read.
    #[error(
        "{} cannot be read: {error}. Let this user read it, or name the NIC with --device or SHMEM_NIC=name",
        path.display()
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: String,
    },

    /// It is too large to be such a file.
    #[error(
        "{} is larger than {} MiB, so that it is no file of NPUs and their NICs. Put the right file there, or name the \
         NIC with --device or SHMEM_NIC=name",
        path.display(),
        limit >> 20
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most bytes that are read.
        limit: u64,
    },

    /// It is not JSON, or not the JSON that is expected.
    #[error(
        "{} is not understood: {error}. It must hold a rank_list with a device_id and a level_list for each NPU. Correct \
         the file, or name the NIC with --device or SHMEM_NIC=name",
        path.display()
    )]
    NotUnderstood {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        error: String,
        /// The line, from 1.
        line: usize,
        /// The byte in the line, from 1; 0 for its beginning.
        column: usize,
    },

    /// It does not have the NPU.
    #[error(
        "{} has no entry for NPU {npu} in its rank_list; the device_ids there are: {}. They are physical numbers, as \
         npu-smi info -m maps them. Correct the file, or name the NIC with --device or SHMEM_NIC=name",
        path.display(),
        first(MAX_LISTED, known)
    )]
    NpuMissing {
        /// The file.
        path: PathBuf,
        /// The NPU.
        npu: u32,
        /// The NPUs that it has.
        known: Vec<u32>,
    },

    /// It gives the NPU no address.
    #[error(
        "{} gives NPU {npu} no NIC address: its level_list has no entry of net_type CLOS with an address of addr_type \
         IPV4 or IPV6; it has: {found}. Correct the file, or name the NIC with --device or SHMEM_NIC=name",
        path.display()
    )]
    NoAddress {
        /// The file.
        path: PathBuf,
        /// The NPU.
        npu: u32,
        /// What it gives the NPU instead.
        found: String,
    },

    /// What it gives the NPU as its address is none.
    #[error(
        "{} gives NPU {npu} the NIC address {address}, which is no {kind} address. Correct the file, or name the NIC with \
         --device or SHMEM_NIC=name",
        path.display()
    )]
    BadAddress {
        /// The file.
        path: PathBuf,
        /// The NPU.
        npu: u32,
        /// `IPV4` or `IPV6`.
        kind: String,
        /// What stands there, in quotes.
        address: String,
    },

    /// It gives the NPU more than one address, and nothing tells which.
    #[error(
        "{} gives NPU {npu} {} NIC addresses (net_type CLOS) and nothing tells which: {}. Leave only one of them in the \
         file, or name the NIC with --device or SHMEM_NIC=name",
        path.display(),
        addresses.len(),
        first(MAX_LISTED, addresses)
    )]
    SeveralAddresses {
        /// The file.
        path: PathBuf,
        /// The NPU.
        npu: u32,
        /// The addresses, each once, in ascending order.
        addresses: Vec<IpAddr>,
    },
}

impl RootInfoError {
    /// That `path` is not understood because of `error`.
    pub(super) fn not_understood(path: &Path, error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let full = error.to_string();
        let mut text: String = full.chars().take(MAX_CHARS).collect();
        if text.len() < full.len() {
            // It quotes a long text of the file, and the place comes after that. Writing to a String cannot fail.
            let _ = write!(text, "... at line {line} column {column}");
        }
        Self::NotUnderstood { path: path.to_owned(), error: text, line, column }
    }

    /// A command to type: it shows what has to be corrected, or what there is to choose from.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Unreadable { path, .. } | Self::TooLarge { path, .. } => format!("ls -lL {}", quoted(path)),
            Self::NotUnderstood { path, line, column, .. } => {
                // The lines up to there; only the part around it, since a file may be one long line.
                let (from, to) = (line.saturating_sub(2).max(1), (*line).max(1));
                let (left, right) = (column.saturating_sub(100).max(1), column.saturating_add(60));
                format!("sed -n '{from},{to}p' {} | cut -c {left}-{right}", quoted(path))
            }
            Self::NpuMissing { .. } => "npu-smi info -m".to_owned(),
            Self::NoAddress { path, npu, .. } | Self::BadAddress { path, npu, .. } => {
                let key = r#""device_id"[[:space:]]*:[[:space:]]*"?"#;
                format!("grep -nE -A 40 '{key}{npu}([^0-9]|$)' {}", quoted(path))
            }
            Self::SeveralAddresses { addresses, .. } => {
                // Which of them this host has at all, and where.
                let each = addresses.iter().take(MAX_LISTED).map(|address| format!(" -e {address}"));
                format!("ip -br addr | grep -wF{}", each.collect::<String>())
            }
        }
    }
}

/// `path` as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
