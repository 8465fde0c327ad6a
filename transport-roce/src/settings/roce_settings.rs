//! The settings themselves.

use std::fmt;
use std::time::Duration;

use transport_core::config::{ProcessEnvironment, Setting, Source};

use super::builder::RoceSettingsBuilder;
use super::connect_mode::ConnectMode;
use super::gid_allow::GidAllow;
use super::key::Key;
use super::nic_wish::NicWish;

/// How long a peer asks us to wait when it is not ready, as verbs encode it (12: 0.64 ms). Nothing of ours needs a
/// receive to be posted, so it never matters but must be valid.
pub(crate) const MIN_RNR_TIMER: u8 = 12;
/// The most reads and atomics in flight on a connection; less if a device can do less.
pub(crate) const MAX_RD_ATOMIC: u8 = 16;

pub(super) const DEFAULT_TRAFFIC_CLASS: u8 = 132;
pub(super) const DEFAULT_SERVICE_LEVEL: u8 = 4;
pub(super) const DEFAULT_TIMEOUT: u8 = 16;
pub(super) const DEFAULT_RETRY_COUNT: u8 = 7;
pub(super) const DEFAULT_RNR_RETRY: u8 = 7;
pub(super) const DEFAULT_QUEUE_DEPTH: u32 = 1024;
pub(super) const DEFAULT_QPS_PER_PEER: u8 = 1;
pub(super) const DEFAULT_SIGNAL_EVERY: u32 = 16;

/// Everything that can be set about the RoCE backend, and where each value came from.
///
/// Displays one line for each value, for `--verbose`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RoceSettings {
    /// Which NIC to use.
    pub nic: Setting<NicWish>,
    /// The physical NPU that this PE belongs to, if the program tells.
    pub npu: Setting<Option<u32>>,
    /// Which entry of the port's GID table to use, 0 to 255; the best one if `None`.
    pub gid_index: Setting<Option<u32>>,
    /// Which GIDs may be used although they are not routable.
    pub gid_allow: Setting<GidAllow>,
    /// The traffic class of all packets (DSCP times 4): a multiple of 4.
    pub traffic_class: Setting<u8>,
    /// The service level of all packets, 0 to 7: the priority that the switch gives them.
    pub service_level: Setting<u8>,
    /// The exponent of how long the NIC waits for an answer before it tries again, 1 to 31: see
    /// [`answer_time`](Self::answer_time).
    pub timeout: Setting<u8>,
    /// How often the NIC tries again when no answer comes, 0 to 7.
    pub retry_count: Setting<u8>,
    /// How often the NIC tries again when a peer is not ready, 0 to 7; 7 means for ever.
    pub rnr_retry: Setting<u8>,
    /// How many work requests a queue holds, 16 to 32768.
    pub queue_depth: Setting<u32>,
    /// How many connections there are to each peer, 1 to 16.
    pub qps_per_peer: Setting<u8>,
    /// After how many work requests one asks to be told of its end: 1 to half of the queue depth.
    pub signal_every: Setting<u32>,
    /// When the connections are made.
    pub connect: Setting<ConnectMode>,
}

impl Default for RoceSettings {
    fn default() -> Self {
        Self {
            nic: Setting::default_value(NicWish::default()),
            npu: Setting::default_value(None),
            gid_index: Setting::default_value(None),
            gid_allow: Setting::default_value(GidAllow::default()),
            traffic_class: Setting::default_value(DEFAULT_TRAFFIC_CLASS),
            service_level: Setting::default_value(DEFAULT_SERVICE_LEVEL),
            timeout: Setting::default_value(DEFAULT_TIMEOUT),
            retry_count: Setting::default_value(DEFAULT_RETRY_COUNT),
            rnr_retry: Setting::default_value(DEFAULT_RNR_RETRY),
            queue_depth: Setting::default_value(DEFAULT_QUEUE_DEPTH),
            qps_per_peer: Setting::default_value(DEFAULT_QPS_PER_PEER),
            signal_every: Setting::default_value(DEFAULT_SIGNAL_EVERY),
            connect: Setting::default_value(ConnectMode::default()),
        }
    }
}

impl RoceSettings {
    /// Begins settings that read the environment of this process; see [`RoceSettingsBuilder`].
    #[must_use]
    pub fn builder() -> RoceSettingsBuilder {
        RoceSettingsBuilder::new(ProcessEnvironment)
    }

    /// The variables that begin with `SHMEM_` and that are read here, for
    /// [`with_known_names`](transport_core::config::JobConfigBuilder::with_known_names).
    #[must_use]
    pub fn variables() -> &'static [&'static str] {
        &Key::SHMEM_VARIABLES
    }

    /// How long the NIC waits for one answer: 4.096 us times 2 to the power of [`timeout`](Self::timeout).
    #[must_use]
    pub fn answer_time(&self) -> Duration {
        // An exponent over 31 cannot be built; the cap only keeps the shift whole.
        Duration::from_nanos(4096_u64 << self.timeout.value.min(31))
    }

    /// How often a request without an answer is sent again. Soft-RoCE takes the default, 7, for "for ever", so that a peer
    /// that is gone would never be reported; there the default is 6.
    pub(crate) fn retries(&self, software: bool) -> u8 {
        let by_default = self.retry_count.source == Source::Default;
        if software && by_default { DEFAULT_RETRY_COUNT - 1 } else { self.retry_count.value }
    }

    /// For messages: how long an answer is waited for, and what sets that.
    pub(crate) fn patience(&self, software: bool) -> String {
        let (retries, each) = (self.retries(software), self.answer_time());
        format!(
            "it was sent {} times, {each:.3?} apart (SHMEM_ROCE_RETRY {retries}, SHMEM_ROCE_TIMEOUT {})",
            u32::from(retries) + 1,
            self.timeout.value
        )
    }

    fn rows(&self) -> [(&'static str, String, &Source); 13] {
        fn row<T: fmt::Display>(key: Key, setting: &Setting<T>) -> (&'static str, String, &Source) {
            (key.title(), setting.value.to_string(), &setting.source)
        }
        let or = |value: Option<u32>, none: &str| value.map_or_else(|| none.to_owned(), |v| v.to_string());
        let timeout = format!("{} ({:.3?} for each try)", self.timeout.value, self.answer_time());
        [
            row(Key::Nic, &self.nic),
            ("NPU", or(self.npu.value, "none"), &self.npu.source),
            (Key::GidIndex.title(), or(self.gid_index.value, "auto"), &self.gid_index.source),
            row(Key::GidAllow, &self.gid_allow),
            row(Key::TrafficClass, &self.traffic_class),
            row(Key::ServiceLevel, &self.service_level),
            (Key::Timeout.title(), timeout, &self.timeout.source),
            row(Key::RetryCount, &self.retry_count),
            row(Key::RnrRetry, &self.rnr_retry),
            row(Key::QueueDepth, &self.queue_depth),
            row(Key::QpsPerPeer, &self.qps_per_peer),
            row(Key::SignalEvery, &self.signal_every),
            row(Key::Connect, &self.connect),
        ]
    }
}

impl fmt::Display for RoceSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (title, value, source)) in self.rows().into_iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{title:<18} {value} ({source})")?;
        }
        Ok(())
    }
}
