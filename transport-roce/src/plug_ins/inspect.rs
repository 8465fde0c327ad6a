//! What a shared object is, read from its file: nothing of it is loaded, and nothing in it is trusted.

use std::io::{self, Read, Seek, SeekFrom};

use object::Endianness;
use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::read::{ReadCache, ReadRef};

use super::bounded::{Bounded, Budget, MOST};
use super::contents::{Contents, contents};
use super::error::PlugInError;
use super::looks::looks;
use super::machine::{LONGEST_HEADER, Machine};
use crate::verbs::Errno;

/// The flag of a program that could be loaded anywhere, but is none the less no library.
const PIE: u64 = elf::DF_1_PIE.0;
/// How much of the beginning is looked at to say what it is.
const HEAD: u64 = 512;

/// What is in the shared object that `reader` reads from `file`.
///
/// # Errors
/// If the loader could not take it on this machine.
pub(super) fn inspect<R: Read + Seek>(file: &str, mut reader: R) -> Result<Contents, PlugInError> {
    let unreadable = |error: io::Error| PlugInError::Unreadable {
        file: file.to_owned(),
        errno: Errno(error.raw_os_error().unwrap_or(0)),
    };
    let mut head = Vec::new();
    reader.by_ref().take(HEAD).read_to_end(&mut head).map_err(unreadable)?;
    let has = reader.seek(SeekFrom::End(0)).map_err(unreadable)?;
    let magic = head.get(..elf::ELFMAG.len()).unwrap_or(&head);
    if magic.is_empty() || !elf::ELFMAG.starts_with(magic) {
        return Err(PlugInError::NotElf { file: file.to_owned(), looks: looks(&head) });
    }
    let narrow = head.get(4) == Some(&elf::ELFCLASS32.0);
    let header = if narrow { size_of::<FileHeader32<Endianness>>() } else { LONGEST_HEADER };
    if head.len() < header {
        return Err(PlugInError::Truncated { file: file.to_owned(), has, needs: header as u64 });
    }
    let (cache, budget) = (ReadCache::new(reader), Budget::new());
    let data = Bounded::new(&cache, &budget);
    let contents = if narrow {
        examine::<FileHeader32<Endianness>, _>(file, has, data)
    } else {
        examine::<FileHeader64<Endianness>, _>(file, has, data)
    };
    match contents {
        Err(PlugInError::Malformed { file, .. }) if budget.is_exceeded() => {
            let why = format!("by its headers, its tables have more than {} MiB", MOST >> 20);
            Err(PlugInError::Malformed { file, why })
        }
        _ => contents,
    }
}

/// The same for an ELF file of one class, of which `has` bytes are there.
fn examine<'data, Elf, R>(file: &str, has: u64, data: R) -> Result<Contents, PlugInError>
where
    Elf: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let file = || file.to_owned();
    let malformed =
        |error: object::read::Error| PlugInError::Malformed { file: file(), why: error.to_string() };
    let not_shared = |what| PlugInError::NotShared { file: file(), what };
    let header = Elf::parse(data).map_err(malformed)?;
    let endian = header.endian().map_err(malformed)?;
    // The machine first: what else it says may be of no use here anyway.
    let theirs = Machine::of(header, endian);
    if let Some(ours) = Machine::own().filter(|ours| *ours != theirs) {
        let (theirs, ours) = (theirs.to_string(), ours.to_string());
        return Err(PlugInError::OtherMachine { file: file(), theirs, ours });
    }
    match header.e_type(endian) {
        elf::ET_DYN => {}
        elf::ET_EXEC => return Err(not_shared("a program")),
        elf::ET_REL => return Err(not_shared("an object that was not linked (a .o file)")),
        elf::ET_CORE => return Err(not_shared("the core of a crashed program")),
        _ => return Err(not_shared("an ELF file of an unknown type")),
    }
    let needs = length(header, endian, data);
    if has < needs {
        return Err(PlugInError::Truncated { file: file(), has, needs });
    }
    let mut dynamic = None;
    for segment in header.program_headers(endian, data).map_err(malformed)? {
        dynamic = dynamic.or(segment.dynamic(endian, data).map_err(malformed)?);
    }
    let Some(dynamic) = dynamic.filter(|entries| !entries.is_empty()) else {
        return Err(not_shared("an ELF file without anything to link (debug information, perhaps)"));
    };
    let flags = dynamic.iter().find(|entry| entry.tag(endian) == elf::DT_FLAGS_1);
    if flags.is_some_and(|entry| entry.val(endian) & PIE != 0) {
        return Err(not_shared("a program"));
    }
    contents(header, endian, data).map_err(malformed)
}

/// How many bytes the file must have: up to the end of its last segment, and of its tables of segments and sections.
fn length<'data, Elf, R>(header: &Elf, endian: Endianness, data: R) -> u64
where
    Elf: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let end = |from: u64, count: u32, each: u16| match from {
        // There is no such table.
        0 => 0,
        _ => from.saturating_add(u64::from(count) * u64::from(each)),
    };
    // Numbers that are too great for the header are in the first section; if that is cut off, it is missing itself.
    let segments = header.phnum(endian, data).unwrap_or(0);
    let sections = header.shnum(endian, data).unwrap_or(1);
    let segments_end = end(header.e_phoff(endian).into(), segments, header.e_phentsize(endian));
    let sections_end = end(header.e_shoff(endian).into(), sections, header.e_shentsize(endian));
    let segments = header.program_headers(endian, data).unwrap_or_default().iter();
    let ends = segments.map(|segment| {
        let (from, length) = segment.file_range(endian);
        from.saturating_add(length)
    });
    ends.fold(segments_end.max(sections_end), u64::max)
}
