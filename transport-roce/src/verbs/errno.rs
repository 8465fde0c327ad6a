//! The system's error numbers, as verbs give them: by `errno`, by a returned number, or by either.

use std::ffi::c_int;
use std::fmt;
use std::io;

/// An error number. Its text has the meaning and the number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub(crate) i32);

impl Errno {
    pub(crate) const PERM: Self = Self(1);
    pub(crate) const NOENT: Self = Self(2);
    pub(crate) const INTR: Self = Self(4);
    pub(crate) const NXIO: Self = Self(6);
    pub(crate) const AGAIN: Self = Self(11);
    pub(crate) const NOMEM: Self = Self(12);
    pub(crate) const ACCES: Self = Self(13);
    pub(crate) const NODEV: Self = Self(19);
    pub(crate) const INVAL: Self = Self(22);
    pub(crate) const NOSYS: Self = Self(38);
    pub(crate) const NODATA: Self = Self(61);
    pub(crate) const OPNOTSUPP: Self = Self(95);
    pub(crate) const NETUNREACH: Self = Self(101);
    pub(crate) const TIMEDOUT: Self = Self(110);
    pub(crate) const HOSTUNREACH: Self = Self(113);

    /// Of the call that has just failed with null or -1.
    pub(crate) fn last() -> Self {
        Self(io::Error::last_os_error().raw_os_error().unwrap_or(0))
    }

    /// Of a call that answers with 0 or an error. It is the number, or its negative with some providers, or -1 with the
    /// number in `errno`.
    #[inline]
    pub(crate) fn check(returned: c_int) -> Result<(), Self> {
        if returned == 0 { Ok(()) } else { Err(Self::of(returned)) }
    }

    /// Of what such a call returned, which is not 0.
    #[cold]
    pub(crate) fn of(returned: c_int) -> Self {
        match returned {
            -1 => Self::last(),
            _ => Self(returned.saturating_abs()),
        }
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        io::Error::from_raw_os_error(self.0).fmt(f)
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Errno({}: {self})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_of_returning_an_error_are_understood() {
        assert_eq!(Errno::check(0), Ok(()));
        assert_eq!(Errno::check(22), Err(Errno::INVAL));
        assert_eq!(Errno::check(-22), Err(Errno::INVAL));
        assert_eq!(Errno::check(c_int::MIN), Err(Errno(c_int::MAX)));
        // A failed open sets errno.
        assert!(std::fs::File::open("/nothing/here").is_err());
        assert_eq!(Errno::check(-1), Err(Errno::NOENT));
    }

    #[test]
    fn the_numbers_mean_what_their_names_say() {
        for (errno, kind) in [
            (Errno::PERM, io::ErrorKind::PermissionDenied),
            (Errno::NOENT, io::ErrorKind::NotFound),
            (Errno::INTR, io::ErrorKind::Interrupted),
            (Errno::AGAIN, io::ErrorKind::WouldBlock),
            (Errno::NOMEM, io::ErrorKind::OutOfMemory),
            (Errno::ACCES, io::ErrorKind::PermissionDenied),
            (Errno::INVAL, io::ErrorKind::InvalidInput),
            (Errno::NOSYS, io::ErrorKind::Unsupported),
            (Errno::OPNOTSUPP, io::ErrorKind::Unsupported),
            (Errno::NETUNREACH, io::ErrorKind::NetworkUnreachable),
            (Errno::TIMEDOUT, io::ErrorKind::TimedOut),
            (Errno::HOSTUNREACH, io::ErrorKind::HostUnreachable),
        ] {
            assert_eq!(io::Error::from_raw_os_error(errno.0).kind(), kind, "{errno}");
        }
        assert_eq!(Errno::NXIO.to_string(), "No such device or address (os error 6)");
        assert_eq!(Errno::NODEV.to_string(), "No such device (os error 19)");
        assert_eq!(Errno::NODATA.to_string(), "No data available (os error 61)");
    }
}
