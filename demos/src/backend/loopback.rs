//! The loopback backend, by the job's configuration.

use transport_core::config::JobConfig;
use transport_core::wait;
use transport_loopback::{Loopback, Processes};

use super::{StartError, rendezvous};

pub(super) fn join(config: &JobConfig) -> Result<Loopback, StartError> {
    let processes = Processes::new(config.heap_size.value.bytes()).timeout(config.timeout.value);
    wait::block_on(async {
        let bootstrap = rendezvous(config, Loopback::BACKEND).await?;
        Ok(processes.connect(bootstrap).await?)
    })
}
