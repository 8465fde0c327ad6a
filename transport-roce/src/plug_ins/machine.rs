//! For which machine an object was built, and which one this process is for.

use std::env::consts::ARCH;
use std::fmt;

use object::Endianness;
use object::elf::{self, FileHeader64};
use object::read::elf::FileHeader;

/// The machines on which RDMA NICs are found, by Rust's names.
const NAMES: &[(&str, elf::Machine)] = &[
    ("x86_64", elf::EM_X86_64),
    ("aarch64", elf::EM_AARCH64),
    ("riscv64", elf::EM_RISCV),
    ("loongarch64", elf::EM_LOONGARCH),
    ("powerpc64", elf::EM_PPC64),
    ("s390x", elf::EM_S390),
    ("x86", elf::EM_386),
    ("arm", elf::EM_ARM),
];

/// A machine, as an object's header tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Machine {
    number: elf::Machine,
    bits: u32,
    big_endian: bool,
}

impl Machine {
    /// The one that `header` names.
    pub(super) fn of<Elf: FileHeader<Endian = Endianness>>(header: &Elf, endian: Endianness) -> Self {
        let bits = if header.is_type_64() { 64 } else { 32 };
        Self { number: header.e_machine(endian), bits, big_endian: header.is_big_endian() }
    }

    /// That of this process; `None` on a machine that nobody has thought of.
    pub(super) fn own() -> Option<Self> {
        let &(_, number) = NAMES.iter().find(|(name, _)| *name == ARCH)?;
        Some(Self { number, bits: usize::BITS, big_endian: cfg!(target_endian = "big") })
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, number)| *number == self.number) {
            Some((name, _)) => f.write_str(name)?,
            None => write!(f, "machine number {}", self.number.0)?,
        }
        let order = if self.big_endian { "big" } else { "little" };
        write!(f, " ({}-bit, {order}-endian)", self.bits)
    }
}

/// How long a header of 64 bits is, the longer one of the two.
pub(super) const LONGEST_HEADER: usize = size_of::<FileHeader64<Endianness>>();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_have_names() {
        let machine = Machine { number: elf::EM_AARCH64, bits: 64, big_endian: false };
        assert_eq!(machine.to_string(), "aarch64 (64-bit, little-endian)");
        let machine = Machine { number: elf::Machine(9999), bits: 32, big_endian: true };
        assert_eq!(machine.to_string(), "machine number 9999 (32-bit, big-endian)");
    }

    #[test]
    fn this_process_is_of_a_known_machine() {
        let own = Machine::own().expect("tests run on one of the machines of the table");
        assert!(own.to_string().starts_with(ARCH), "{own}");
    }
}
