//! The names in a shared object that tell what it is to libibverbs.

use object::Endianness;
use object::elf;
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym};
use object::read::{ReadRef, Result, SectionIndex};

use super::private_abi::digits;

/// A provider calls `verbs_register_driver_NN` from its constructor.
const PROVIDER: &str = "verbs_register_driver_";
/// An extend plug-in calls this one.
const EXTEND: &str = "verbs_register_driver_extend";
/// The symbols that libibverbs and its providers share have this version, with the ABI's number.
const VERSION: &str = "IBVERBS_PRIVATE_";
/// No object has more versions: their numbers have 15 bits.
const MAX_VERSIONS: usize = 1 << 15;

/// No name that counts is longer.
const LONGEST: usize = 64;

/// What an object calls, needs and defines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Contents {
    /// The number in the name of the function by which it registers itself as a provider.
    pub(super) registers: Option<u32>,
    /// Whether it registers itself as an extend plug-in.
    pub(super) extends: bool,
    /// The private ABI of libibverbs that it needs.
    pub(super) needs: Option<u32>,
    /// The private ABI that it has, if it is libibverbs.
    pub(super) defines: Option<u32>,
}

/// Reads them from the sections.
pub(super) fn contents<'data, Elf, R>(header: &Elf, endian: Endianness, data: R) -> Result<Contents>
where
    Elf: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let sections = header.sections(endian, data)?;
    let mut contents = Contents {
        needs: private(&needed(&sections, endian, data)?),
        defines: private(&defined(&sections, endian, data)?),
        ..Contents::default()
    };
    let is_table = |section: &&Elf::SectionHeader| section.sh_type(endian) == elf::SHT_DYNSYM;
    let Some(table) = sections.iter().find(is_table) else { return Ok(contents) };
    let symbols: &[Elf::Sym] = table.data_as_array(endian, data)?;
    let strings = strings(&sections, endian, data, table.link(endian))?;
    let called = symbols.iter().filter(|symbol| symbol.is_undefined(endian));
    // A name that cannot be read is none of those that count.
    for name in called.filter_map(|symbol| name_at(strings, symbol.st_name(endian))) {
        if name == EXTEND.as_bytes() {
            contents.extends = true;
        } else {
            contents.registers = contents.registers.or(numbered(name, PROVIDER));
        }
    }
    Ok(contents)
}

/// The versions of symbols of other objects.
fn needed<'data, Elf, R>(
    sections: &SectionTable<'data, Elf, R>,
    endian: Endianness,
    data: R,
) -> Result<Vec<&'data [u8]>>
where
    Elf: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let Some((needs, link)) = sections.gnu_verneed(endian, data)? else { return Ok(Vec::new()) };
    let strings = strings(sections, endian, data, link)?;
    let versions =
        needs.flatten().take(MAX_VERSIONS).flat_map(|(_, versions)| versions.flatten()).take(MAX_VERSIONS);
    Ok(versions.filter_map(|version| name_at(strings, version.vna_name.get(endian))).collect())
}

/// The versions of its own symbols.
fn defined<'data, Elf, R>(
    sections: &SectionTable<'data, Elf, R>,
    endian: Endianness,
    data: R,
) -> Result<Vec<&'data [u8]>>
where
    Elf: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let Some((definitions, link)) = sections.gnu_verdef(endian, data)? else { return Ok(Vec::new()) };
    let strings = strings(sections, endian, data, link)?;
    // The first name is the version's own, the others are those that it came from.
    let definitions = definitions.flatten().take(MAX_VERSIONS);
    let versions = definitions.filter_map(|(_, mut names)| names.next().ok().flatten());
    Ok(versions.filter_map(|version| name_at(strings, version.vda_name.get(endian))).collect())
}

/// The names of a table, which are read at once.
fn strings<'data, Elf, R>(
    sections: &SectionTable<'data, Elf, R>,
    endian: Endianness,
    data: R,
    link: SectionIndex,
) -> Result<&'data [u8]>
where
    Elf: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    if link == SectionIndex(0) { Ok(&[]) } else { sections.section(link)?.data(endian, data) }
}

/// The name that begins `at` there, if it is not too long to count.
fn name_at(strings: &[u8], at: u32) -> Option<&[u8]> {
    let from = strings.get(usize::try_from(at).ok()?..)?;
    let end = from.iter().take(LONGEST).position(|byte| *byte == 0)?;
    from.get(..end)
}

/// The number of the private ABI among `versions`.
fn private(versions: &[&[u8]]) -> Option<u32> {
    versions.iter().find_map(|name| numbered(name, VERSION))
}

/// The number that follows `prefix` to the end of `name`.
fn numbered(name: &[u8], prefix: &str) -> Option<u32> {
    digits(std::str::from_utf8(name).ok()?.strip_prefix(prefix)?)
}
