//! Makes [`RoceSettings`] of arguments, environment and defaults, in that order of precedence.

use std::ffi::{OsStr, OsString};

use transport_core::config::{EnvironmentSource, Setting, Source};

use super::connect_mode::ConnectMode;
use super::error::SettingsError;
use super::gid_allow::GidAllow;
use super::key::Key;
use super::nic_wish::{NicWish, NicWishFault};
use super::roce_settings::{
    DEFAULT_QPS_PER_PEER, DEFAULT_QUEUE_DEPTH, DEFAULT_RETRY_COUNT, DEFAULT_RNR_RETRY, DEFAULT_SERVICE_LEVEL,
    DEFAULT_SIGNAL_EVERY, DEFAULT_TIMEOUT, DEFAULT_TRAFFIC_CLASS, RoceSettings,
};

/// The largest index that a connection can carry: verbs give it 8 bits.
const MAX_GID_INDEX: u32 = 255;

/// Collects what the program was told, then makes [`RoceSettings`].
///
/// A variable of the environment that is empty counts as not set.
pub struct RoceSettingsBuilder {
    environment: Box<dyn EnvironmentSource>,
    device: Option<(String, OsString)>,
    npu: Option<(String, u32)>,
}

impl RoceSettingsBuilder {
    /// Reads the environment from `environment`.
    pub fn new(environment: impl EnvironmentSource + 'static) -> Self {
        Self { environment: Box::new(environment), device: None, npu: None }
    }

    /// Reads the environment from `environment` instead.
    #[must_use]
    pub fn with_environment(mut self, environment: impl EnvironmentSource + 'static) -> Self {
        self.environment = Box::new(environment);
        self
    }

    /// Which NIC to use, as an argument of the program says: overrides `SHMEM_NIC` and is read as that would be.
    /// `argument` is how errors and `--verbose` call it (`--device`).
    #[must_use]
    pub fn device(mut self, argument: impl Into<String>, text: impl Into<OsString>) -> Self {
        self.device = Some((argument.into(), text.into()));
        self
    }

    /// The physical NPU of this PE. `argument` is how errors and `--verbose` call what it was reckoned from (`<f_npu>`).
    #[must_use]
    pub fn npu(mut self, argument: impl Into<String>, npu: u32) -> Self {
        self.npu = Some((argument.into(), npu));
        self
    }

    /// Makes the settings.
    ///
    /// # Errors
    /// If a value is wrong: a [`SettingsError`] that names it, where it came from and the remedy.
    pub fn build(self) -> Result<RoceSettings, SettingsError> {
        let queue_depth = self.number(Key::QueueDepth, 16, 32768, DEFAULT_QUEUE_DEPTH, " work requests")?;
        Ok(RoceSettings {
            nic: self.nic()?,
            npu: match &self.npu {
                Some((argument, npu)) => Setting::new(Some(*npu), Source::Argument(argument.clone())),
                None => Setting::default_value(None),
            },
            gid_index: self.gid_index()?,
            gid_allow: self.gid_allow()?,
            traffic_class: self.traffic_class()?,
            service_level: self.small(
                Key::ServiceLevel,
                0,
                7,
                DEFAULT_SERVICE_LEVEL,
                ": the priority that the switch gives the packets",
            )?,
            timeout: self.small(
                Key::Timeout,
                1,
                31,
                DEFAULT_TIMEOUT,
                ": the NIC waits 4.096 us * 2^n for an answer",
            )?,
            retry_count: self.small(Key::RetryCount, 0, 7, DEFAULT_RETRY_COUNT, "")?,
            rnr_retry: self.small(Key::RnrRetry, 0, 7, DEFAULT_RNR_RETRY, ", where 7 means for ever")?,
            signal_every: self.signal_every(&queue_depth)?,
            queue_depth,
            qps_per_peer: self.small(Key::QpsPerPeer, 1, 16, DEFAULT_QPS_PER_PEER, " connections")?,
            connect: self.connect()?,
        })
    }

    fn variable(&self, key: Key) -> Option<Setting<OsString>> {
        let name = key.variable();
        let value = self.environment.get(name).filter(|value| !value.is_empty())?;
        Some(Setting::new(value, Source::Environment(name.to_owned())))
    }

    /// The text of `key`'s variable, if it is set.
    fn text(&self, key: Key) -> Result<Option<Setting<String>>, SettingsError> {
        self.variable(key).map(|raw| text_of(key, raw)).transpose()
    }

    fn number(
        &self,
        key: Key,
        min: u32,
        max: u32,
        default: u32,
        note: &'static str,
    ) -> Result<Setting<u32>, SettingsError> {
        let Some(text) = self.text(key)? else { return Ok(Setting::default_value(default)) };
        bounded(key, text, min, max, note, default.to_string())
    }

    /// As [`number`](Self::number), for one that fits in 8 bits.
    fn small(
        &self,
        key: Key,
        min: u8,
        max: u8,
        default: u8,
        note: &'static str,
    ) -> Result<Setting<u8>, SettingsError> {
        let setting = self.number(key, min.into(), max.into(), default.into(), note)?;
        Ok(setting.map(|value| u8::try_from(value).unwrap_or(max)))
    }

    fn nic(&self) -> Result<Setting<NicWish>, SettingsError> {
        let argument = self
            .device
            .as_ref()
            .map(|(name, text)| Setting::new(text.clone(), Source::Argument(name.clone())));
        let Some(raw) = argument.or_else(|| self.variable(Key::Nic)) else {
            return Ok(Setting::default_value(NicWish::Auto));
        };
        let Setting { value, source: origin } = text_of(Key::Nic, raw)?;
        match NicWish::parse(&value) {
            Ok(wish) => Ok(Setting::new(wish, origin)),
            Err(NicWishFault::Name) => Err(SettingsError::NicName { value, origin }),
            Err(NicWishFault::Port) => Err(SettingsError::NicPort { value, origin }),
        }
    }

    fn gid_index(&self) -> Result<Setting<Option<u32>>, SettingsError> {
        let Some(text) = self.text(Key::GidIndex)? else { return Ok(Setting::default_value(None)) };
        let note = ": the entry of the port's GID table";
        let index = bounded(Key::GidIndex, text, 0, MAX_GID_INDEX, note, "the best one is found".to_owned())?;
        Ok(index.map(Some))
    }

    fn gid_allow(&self) -> Result<Setting<GidAllow>, SettingsError> {
        let Some(Setting { value, source: origin }) = self.text(Key::GidAllow)? else {
            return Ok(Setting::default_value(GidAllow::default()));
        };
        match GidAllow::parse(&value) {
            Ok(allow) => Ok(Setting::new(allow, origin)),
            Err(item) => {
                let item = item.to_owned();
                Err(SettingsError::GidAllow { value, item, origin })
            }
        }
    }

    fn traffic_class(&self) -> Result<Setting<u8>, SettingsError> {
        let note = " and a multiple of 4 (the DSCP times 4)";
        let class = self.small(Key::TrafficClass, 0, 255, DEFAULT_TRAFFIC_CLASS, note)?;
        if class.value.is_multiple_of(4) {
            return Ok(class);
        }
        let value = class.value.to_string();
        Err(out_of_bounds(
            Key::TrafficClass,
            value,
            class.source,
            0,
            255,
            note,
            DEFAULT_TRAFFIC_CLASS.to_string(),
        ))
    }

    fn signal_every(&self, queue_depth: &Setting<u32>) -> Result<Setting<u32>, SettingsError> {
        let most = queue_depth.value / 2;
        let every = self.number(Key::SignalEvery, 1, u32::MAX, DEFAULT_SIGNAL_EVERY, " work requests")?;
        if every.value <= most {
            return Ok(every);
        }
        // Whoever sets a shallow queue need not think of this as well.
        if every.source == Source::Default {
            return Ok(Setting::default_value(most));
        }
        Err(SettingsError::SignalTooRare {
            value: every.value,
            origin: every.source,
            queue_depth: queue_depth.value,
            queue_origin: queue_depth.source.clone(),
        })
    }

    fn connect(&self) -> Result<Setting<ConnectMode>, SettingsError> {
        let Some(Setting { value, source: origin }) = self.text(Key::Connect)? else {
            return Ok(Setting::default_value(ConnectMode::default()));
        };
        match ConnectMode::parse(&value) {
            Some(mode) => Ok(Setting::new(mode, origin)),
            None => Err(SettingsError::Connect { value, origin }),
        }
    }
}

fn text_of(key: Key, raw: Setting<OsString>) -> Result<Setting<String>, SettingsError> {
    match OsStr::to_str(&raw.value) {
        Some(text) => Ok(Setting::new(text.to_owned(), raw.source)),
        None => Err(SettingsError::NotText { what: key.title(), value: raw.value, origin: raw.source }),
    }
}

fn bounded(
    key: Key,
    text: Setting<String>,
    min: u32,
    max: u32,
    note: &'static str,
    default: String,
) -> Result<Setting<u32>, SettingsError> {
    // `parse` would take a sign.
    let digits = !text.value.is_empty() && text.value.bytes().all(|b| b.is_ascii_digit());
    let number = digits.then(|| text.value.parse().ok()).flatten();
    match number.filter(|number| (min..=max).contains(number)) {
        Some(number) => Ok(Setting::new(number, text.source)),
        None => Err(out_of_bounds(key, text.value, text.source, min, max, note, default)),
    }
}

fn out_of_bounds(
    key: Key,
    value: String,
    origin: Source,
    min: u32,
    max: u32,
    note: &'static str,
    default: String,
) -> SettingsError {
    SettingsError::Number { what: key.title(), value, origin, min, max, note, default }
}
