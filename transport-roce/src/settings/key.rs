//! The values that can be set, and the variable of the environment for each.

/// A value of [`RoceSettings`](super::RoceSettings) that the environment can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Nic,
    GidIndex,
    GidAllow,
    TrafficClass,
    ServiceLevel,
    Timeout,
    RetryCount,
    RnrRetry,
    QueueDepth,
    QpsPerPeer,
    SignalEvery,
    Connect,
}

impl Key {
    /// The variable of the environment that sets it. `HCCL_` names are those that the switches' documents use too.
    pub(super) const fn variable(self) -> &'static str {
        match self {
            Self::Nic => "SHMEM_NIC",
            Self::GidIndex => "SHMEM_GID_INDEX",
            Self::GidAllow => "SHMEM_GID_ALLOW",
            Self::TrafficClass => "HCCL_RDMA_TC",
            Self::ServiceLevel => "HCCL_RDMA_SL",
            Self::Timeout => "SHMEM_ROCE_TIMEOUT",
            Self::RetryCount => "SHMEM_ROCE_RETRY",
            Self::RnrRetry => "SHMEM_ROCE_RNR_RETRY",
            Self::QueueDepth => "SHMEM_ROCE_QUEUE_DEPTH",
            Self::QpsPerPeer => "SHMEM_ROCE_QPS",
            Self::SignalEvery => "SHMEM_ROCE_SIGNAL_EVERY",
            Self::Connect => "SHMEM_ROCE_CONNECT",
        }
    }

    /// What people call it.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Nic => "NIC",
            Self::GidIndex => "GID index",
            Self::GidAllow => "GID allow",
            Self::TrafficClass => "traffic class",
            Self::ServiceLevel => "service level",
            Self::Timeout => "RoCE timeout",
            Self::RetryCount => "retry count",
            Self::RnrRetry => "RNR retry",
            Self::QueueDepth => "queue depth",
            Self::QpsPerPeer => "QPs per peer",
            Self::SignalEvery => "signal every",
            Self::Connect => "connect",
        }
    }

    /// The variables that begin with `SHMEM_`.
    pub(super) const SHMEM_VARIABLES: [&'static str; 10] = [
        Self::Nic.variable(),
        Self::GidIndex.variable(),
        Self::GidAllow.variable(),
        Self::Timeout.variable(),
        Self::RetryCount.variable(),
        Self::RnrRetry.variable(),
        Self::QueueDepth.variable(),
        Self::QpsPerPeer.variable(),
        Self::SignalEvery.variable(),
        Self::Connect.variable(),
    ];
}
