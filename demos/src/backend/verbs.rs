//! The RoCE backend, by the job's configuration and its own settings.

use transport_core::config::JobConfig;
use transport_core::wait;
use transport_roce::{Fabric, Roce, RoceSettings, SettingsError};

use super::{StartError, rendezvous};
use crate::job_options::JobOptions;

/// What the options and the environment say.
pub(super) fn settings(options: &JobOptions) -> Result<RoceSettings, SettingsError> {
    let mut builder = RoceSettings::builder();
    if let Some(device) = &options.device {
        builder = builder.device("--device", device);
    }
    if let Some(npu) = options.npu {
        builder = builder.npu(npu);
    }
    builder.build()
}

pub(super) fn join(config: &JobConfig, options: &JobOptions) -> Result<Roce, StartError> {
    let settings = settings(options)?;
    for line in settings.to_string().lines() {
        tracing::info!("{line}");
    }
    let fabric = Fabric::new(config.heap_size.value.bytes(), settings).timeout(config.timeout.value);
    wait::block_on(async {
        let bootstrap = rendezvous(config, Roce::BACKEND).await?;
        Ok(fabric.connect(bootstrap).await?)
    })
}
