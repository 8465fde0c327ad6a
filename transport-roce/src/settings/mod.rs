//! What can be set about the RoCE backend, and where each value came from.

mod builder;
mod connect_mode;
mod error;
mod gid_allow;
mod key;
mod nic_wish;
mod roce_settings;
#[cfg(test)]
mod tests;

pub use builder::RoceSettingsBuilder;
pub use connect_mode::ConnectMode;
pub use error::SettingsError;
pub use gid_allow::GidAllow;
pub use nic_wish::NicWish;
pub use roce_settings::RoceSettings;
pub(crate) use roce_settings::{MAX_RD_ATOMIC, MIN_RNR_TIMER};
