//! Makes a [`JobConfig`] of arguments, environment and defaults, in that order of precedence.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::net::Ipv4Addr;
use std::path::PathBuf;

use super::byte_size::ByteSize;
use super::environment::EnvironmentSource;
use super::error::ConfigError;
use super::identity::{self, Launcher};
use super::job::{
    DEFAULT_HEAP_SIZE, DEFAULT_TIMEOUT, JobConfig, MAX_BACKEND_LEN, MAX_HEAP_SIZE, MAX_JOB_ID_LEN, MAX_PES,
    MIN_HEAP_SIZE,
};
use super::key::Key;
use super::known_names::unknown_names;
use super::log_level::LogLevel;
use super::rendezvous::{Host, RendezvousAddress};
use super::seconds::parse_seconds;
use super::secret::Secret;
use super::setting::{Setting, Source};
use crate::collectives::AllGatherAlgorithm;

/// Collects what the program was told, then makes a [`JobConfig`].
///
/// A variable of the environment that is empty counts as not set, except for the secret, where a slip would let
/// strangers in.
pub struct JobConfigBuilder {
    environment: Box<dyn EnvironmentSource>,
    arguments: BTreeMap<Key, (String, OsString)>,
    defaults: BTreeMap<Key, OsString>,
    also_known: Vec<&'static str>,
}

impl JobConfigBuilder {
    /// Reads the environment from `environment`.
    pub fn new(environment: impl EnvironmentSource + 'static) -> Self {
        Self {
            environment: Box::new(environment),
            arguments: BTreeMap::new(),
            defaults: BTreeMap::new(),
            also_known: Vec::new(),
        }
    }

    /// Reads the environment from `environment` instead.
    #[must_use]
    pub fn with_environment(mut self, environment: impl EnvironmentSource + 'static) -> Self {
        self.environment = Box::new(environment);
        self
    }

    /// An argument of the program: overrides the environment. `name` is how errors and `--verbose` call it
    /// (`--heap`, `<pe_id>`); `text` is read as the environment's would be.
    #[must_use]
    pub fn with_argument(mut self, key: Key, name: impl Into<String>, text: impl Into<OsString>) -> Self {
        self.arguments.insert(key, (name.into(), text.into()));
        self
    }

    /// As [`with_argument`](Self::with_argument), if there is one.
    #[must_use]
    pub fn with_optional_argument(
        self,
        key: Key,
        name: impl Into<String>,
        text: Option<impl Into<OsString>>,
    ) -> Self {
        match text {
            Some(text) => self.with_argument(key, name, text),
            None => self,
        }
    }

    /// The program's own default for a value, used if nobody says anything.
    #[must_use]
    pub fn with_default(mut self, key: Key, text: impl Into<OsString>) -> Self {
        self.defaults.insert(key, text.into());
        self
    }

    /// Names that begin with `SHMEM_` and that the program or its backend reads: not to be reported as unknown.
    #[must_use]
    pub fn with_known_names(mut self, names: &[&'static str]) -> Self {
        self.also_known.extend_from_slice(names);
        self
    }

    /// Makes the configuration.
    ///
    /// # Errors
    /// If something is missing or wrong: a [`ConfigError`] that names the value, where it came from and the remedy.
    pub fn build(self) -> Result<JobConfig, ConfigError> {
        let identity_given = [Key::Pe, Key::NPes].iter().all(|key| self.arguments.contains_key(key));
        // Half-set variables of a launcher do not matter to a program that was told by arguments.
        let launcher = if identity_given { None } else { identity::find_launcher(&*self.environment)? };
        let n_pes = self.n_pes(launcher)?;
        let my_pe = self.my_pe(launcher, &n_pes)?;
        let (local_pe, local_n_pes) = self.local(launcher)?;
        let ifname = self.parsed(Key::Ifname, |text, origin| {
            text.parse().map_err(|error| ConfigError::Interface { origin, error })
        })?;
        let rendezvous_file = self.raw(Key::RendezvousFile);
        let rendezvous =
            self.rendezvous(launcher, n_pes.value, ifname.is_some(), rendezvous_file.is_some())?;
        // Only PE 0 serves; on the others the number may stand for something else.
        let listener_fd = if my_pe.value == 0 { self.number(Key::ListenerFd)? } else { None };
        let log_level = self.parsed(Key::LogLevel, |text, origin| {
            text.parse().map_err(|()| ConfigError::LogLevel { value: text.to_owned(), origin })
        })?;
        let all_gather = self.parsed(Key::AllGather, |text, origin| {
            text.parse().map_err(|error| ConfigError::AllGather { origin, error })
        })?;
        let timeout = self.parsed(Key::Timeout, |text, origin| {
            parse_seconds(text).map_err(|error| ConfigError::Timeout { origin, error })
        })?;
        Ok(JobConfig {
            heap_size: self.heap_size()?,
            secret: optional(self.secret()?),
            job_id: self
                .short_text(Key::JobId, MAX_JOB_ID_LEN)?
                .unwrap_or(Setting::default_value(String::new())),
            backend: optional(self.short_text(Key::Backend, MAX_BACKEND_LEN)?),
            log_level: log_level.unwrap_or(Setting::default_value(LogLevel::default())),
            all_gather: all_gather.unwrap_or(Setting::default_value(AllGatherAlgorithm::Auto)),
            timeout: timeout.unwrap_or(Setting::default_value(DEFAULT_TIMEOUT)),
            ifname: optional(ifname),
            rendezvous,
            listener_fd: optional(listener_fd),
            rendezvous_file: optional(rendezvous_file.map(|file| file.map(PathBuf::from))),
            my_pe,
            n_pes,
            local_pe: optional(local_pe),
            local_n_pes: optional(local_n_pes),
            unknown: unknown_names(&*self.environment, &self.also_known),
        })
    }

    /// What was said about `key`: argument, else environment, else the program's default.
    fn raw(&self, key: Key) -> Option<Setting<OsString>> {
        if let Some((name, text)) = self.arguments.get(&key) {
            return Some(Setting::new(text.clone(), Source::Argument(name.clone())));
        }
        self.variable(key.variable())
            .or_else(|| self.defaults.get(&key).map(|text| Setting::default_value(text.clone())))
    }

    fn variable(&self, name: &str) -> Option<Setting<OsString>> {
        let value = self.environment.get(name).filter(|value| !value.is_empty())?;
        Some(Setting::new(value, Source::Environment(name.to_owned())))
    }

    fn parsed<T>(
        &self,
        key: Key,
        parse: impl FnOnce(&str, Source) -> Result<T, ConfigError>,
    ) -> Result<Option<Setting<T>>, ConfigError> {
        let Some(raw) = self.raw(key) else { return Ok(None) };
        let value = parse(text_of(key.title(), &raw)?, raw.source.clone())?;
        Ok(Some(Setting::new(value, raw.source)))
    }

    fn number<N: std::str::FromStr>(&self, key: Key) -> Result<Option<Setting<N>>, ConfigError> {
        self.raw(key).map(|raw| parse_number(key.title(), raw)).transpose()
    }

    /// An argument's number, else that of the launcher's variable.
    fn identity_number(
        &self,
        key: Key,
        variable: Option<&'static str>,
    ) -> Result<Option<Setting<usize>>, ConfigError> {
        if self.arguments.contains_key(&key) {
            return self.number(key);
        }
        let raw = variable.and_then(|name| self.variable(name));
        raw.map(|raw| parse_number(key.title(), raw)).transpose()
    }

    fn n_pes(&self, launcher: Option<&Launcher>) -> Result<Setting<usize>, ConfigError> {
        let n_pes = self.identity_number(Key::NPes, launcher.map(|l| l.n_pes))?.ok_or_else(|| {
            ConfigError::NoIdentity { missing: "n_pes", looked_for: identity::looked_for() }
        })?;
        if (1..=MAX_PES).contains(&n_pes.value) {
            Ok(n_pes)
        } else {
            Err(ConfigError::BadNPes { n_pes: n_pes.value, origin: n_pes.source, max: MAX_PES })
        }
    }

    fn my_pe(
        &self,
        launcher: Option<&Launcher>,
        n_pes: &Setting<usize>,
    ) -> Result<Setting<usize>, ConfigError> {
        let my_pe = self.identity_number(Key::Pe, launcher.map(|l| l.pe))?.ok_or_else(|| {
            ConfigError::NoIdentity { missing: "pe_id", looked_for: identity::looked_for() }
        })?;
        below(Key::Pe, &my_pe, Key::NPes, n_pes)?;
        Ok(my_pe)
    }

    #[allow(clippy::type_complexity)] // Two of the same: a name for the pair would say no more.
    fn local(
        &self,
        launcher: Option<&Launcher>,
    ) -> Result<(Option<Setting<usize>>, Option<Setting<usize>>), ConfigError> {
        let local_pe = self.identity_number(Key::LocalPe, launcher.and_then(|l| l.local_pe))?;
        let local_n_pes = self.identity_number(Key::LocalNPes, launcher.and_then(|l| l.local_n_pes))?;
        if let (Some(pe), Some(n_pes)) = (&local_pe, &local_n_pes) {
            below(Key::LocalPe, pe, Key::LocalNPes, n_pes)?;
        }
        Ok((local_pe, local_n_pes))
    }

    fn rendezvous(
        &self,
        launcher: Option<&Launcher>,
        n_pes: usize,
        has_ifname: bool,
        has_file: bool,
    ) -> Result<Setting<RendezvousAddress>, ConfigError> {
        let told = self.parsed(Key::Rendezvous, |text, origin| {
            text.parse().map_err(|error| ConfigError::Rendezvous { origin, error })
        })?;
        if let Some(told) = told {
            return Ok(told);
        }
        if launcher.is_some_and(Launcher::is_torchrun) && identity::is_set(&*self.environment, "MASTER_ADDR")
        {
            return self.torchrun_rendezvous();
        }
        // With a file to publish in, or with nobody to meet, any free port will do.
        if has_file || n_pes == 1 {
            // The wildcard means: the address of the interface that was named.
            let host = if has_ifname { Ipv4Addr::UNSPECIFIED } else { Ipv4Addr::LOCALHOST };
            return Ok(Setting::default_value(RendezvousAddress { host: Host::V4(host), port: 0 }));
        }
        Err(ConfigError::NoRendezvous)
    }

    /// The port after torch's own store.
    fn torchrun_rendezvous(&self) -> Result<Setting<RendezvousAddress>, ConfigError> {
        let text = |name: &str| self.environment.get(name).unwrap_or_default().to_string_lossy().into_owned();
        let (host, master_port) = (text("MASTER_ADDR"), text("MASTER_PORT"));
        let port = master_port
            .parse::<u16>()
            .ok()
            .and_then(|port| port.checked_add(1))
            .ok_or(ConfigError::MasterPort { value: master_port })?;
        let origin = Source::Environment("MASTER_ADDR, MASTER_PORT + 1".to_owned());
        let bracketed = if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host };
        let address = format!("{bracketed}:{port}")
            .parse()
            .map_err(|error| ConfigError::Rendezvous { origin: origin.clone(), error })?;
        Ok(Setting::new(address, origin))
    }

    fn heap_size(&self) -> Result<Setting<ByteSize>, ConfigError> {
        let heap_size = self
            .parsed(Key::HeapSize, |text, origin| {
                text.parse().map_err(|error| ConfigError::HeapSize { origin, error })
            })?
            .unwrap_or(Setting::default_value(DEFAULT_HEAP_SIZE));
        if (MIN_HEAP_SIZE..=MAX_HEAP_SIZE).contains(&heap_size.value) {
            return Ok(heap_size);
        }
        Err(ConfigError::HeapSizeOutOfRange {
            size: heap_size.value,
            origin: heap_size.source,
            min: MIN_HEAP_SIZE,
            max: MAX_HEAP_SIZE,
        })
    }

    fn secret(&self) -> Result<Option<Setting<Secret>>, ConfigError> {
        let name = Key::Secret.variable();
        let empty = self.environment.get(name).is_some_and(|value| value.is_empty());
        if empty && !self.arguments.contains_key(&Key::Secret) {
            return Err(ConfigError::EmptySecret { origin: Source::Environment(name.to_owned()) });
        }
        let Some(raw) = self.raw(Key::Secret) else { return Ok(None) };
        match Secret::new(raw.value.into_encoded_bytes()) {
            Some(secret) => Ok(Some(Setting::new(secret, raw.source))),
            None => Err(ConfigError::EmptySecret { origin: raw.source }),
        }
    }

    fn short_text(&self, key: Key, max: usize) -> Result<Option<Setting<String>>, ConfigError> {
        self.parsed(key, |text, origin| {
            if text.len() <= max {
                Ok(text.to_owned())
            } else {
                Err(ConfigError::TooLong { what: key.title(), len: text.len(), origin, max })
            }
        })
    }
}

fn optional<T>(setting: Option<Setting<T>>) -> Setting<Option<T>> {
    setting.map_or_else(|| Setting::default_value(None), |setting| setting.map(Some))
}

fn text_of<'r>(what: &'static str, raw: &'r Setting<OsString>) -> Result<&'r str, ConfigError> {
    OsStr::to_str(&raw.value).ok_or_else(|| ConfigError::NotText {
        what,
        value: raw.value.clone(),
        origin: raw.source.clone(),
    })
}

fn parse_number<N: std::str::FromStr>(
    what: &'static str,
    raw: Setting<OsString>,
) -> Result<Setting<N>, ConfigError> {
    let text = text_of(what, &raw)?;
    // `parse` would take a sign.
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match digits.then(|| text.parse().ok()).flatten() {
        Some(value) => Ok(Setting::new(value, raw.source)),
        None => Err(ConfigError::NotANumber { what, value: text.to_owned(), origin: raw.source }),
    }
}

fn below(what: Key, pe: &Setting<usize>, of: Key, n_pes: &Setting<usize>) -> Result<(), ConfigError> {
    if pe.value < n_pes.value {
        return Ok(());
    }
    Err(ConfigError::PeOutOfRange {
        what: what.title(),
        pe: pe.value,
        pe_origin: pe.source.clone(),
        of: of.title(),
        n_pes: n_pes.value,
        n_pes_origin: n_pes.source.clone(),
    })
}
