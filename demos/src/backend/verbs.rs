//! The backends over libibverbs, by the job's configuration and their own settings.

use transport_core::config::JobConfig;
use transport_core::wait;
use transport_roce::{Fabric, NicKind, NicWish, Roce, RoceSettings, SettingsError};

use super::{StartError, rendezvous};
use crate::job_options::JobOptions;

/// The kinds of NIC of this build. One that serves only its own NICs comes before the one that serves any.
const KINDS: &[&NicKind] = &[
    #[cfg(feature = "xscale")]
    &transport_xscale::XSCALE,
    #[cfg(feature = "hns1825")]
    &transport_hns1825::HNS1825,
    #[cfg(feature = "roce")]
    &NicKind::ROCE,
];

/// The kind that `backend` is for.
pub(super) fn kind(backend: &str) -> Option<&'static NicKind> {
    KINDS.iter().copied().find(|kind| kind.backend == backend)
}

/// The kind of the NIC that `options` or the environment name; `None` if they name none, or that of the NPU.
pub(super) fn kind_of_named(settings: &RoceSettings) -> Option<&'static NicKind> {
    match &settings.nic.value {
        NicWish::Named { device, .. } => KINDS.iter().copied().find(|kind| kind.serves(device)),
        _ => None,
    }
}

/// What the options and the environment say.
pub(super) fn settings(options: &JobOptions) -> Result<RoceSettings, SettingsError> {
    let mut builder = RoceSettings::builder();
    if let Some(device) = &options.device {
        builder = builder.device("--device", device);
    }
    if let Some((argument, npu)) = options.npu {
        builder = builder.npu(argument, npu);
    }
    builder.build()
}

pub(super) fn join(
    kind: &'static NicKind,
    config: &JobConfig,
    options: &JobOptions,
) -> Result<Roce, StartError> {
    let settings = settings(options)?;
    for line in settings.to_string().lines() {
        tracing::info!("{line}");
    }
    let fabric =
        Fabric::of_kind(kind, config.heap_size.value.bytes(), settings).timeout(config.timeout.value);
    wait::block_on(async {
        let bootstrap = rendezvous(config, kind.backend).await?;
        Ok(fabric.connect(bootstrap).await?)
    })
}
