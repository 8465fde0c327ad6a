//! Which file a piece of this process's code came from.

use std::path::PathBuf;

/// The file mapped at `address`, `None` if the system does not say.
pub(super) fn file_at(address: usize) -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    mapped_file(&maps, address)
}

/// The file mapped at `address`, from the lines of `/proc/self/maps`.
fn mapped_file(maps: &str, address: usize) -> Option<PathBuf> {
    maps.lines().find_map(|line| {
        let (from, to) = line.split_once(' ')?.0.split_once('-')?;
        let range = usize::from_str_radix(from, 16).ok()?..usize::from_str_radix(to, 16).ok()?;
        range.contains(&address).then_some(())?;
        // Five columns, then the path, which may have spaces.
        line.find('/').map(|at| PathBuf::from(&line[at..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_found_among_the_mappings() {
        let maps =
            "10000-20000 r-xp 00000000 00:1b 7   /usr/lib/a b.so\n20000-30000 rw-p 00000000 00:00 0 \n";
        assert_eq!(mapped_file(maps, 0x1ffff), Some("/usr/lib/a b.so".into()));
        assert_eq!(mapped_file(maps, 0x20000), None);
        assert_eq!(mapped_file("nonsense\n\n- -\n", 0), None);
    }

    #[test]
    fn own_code_is_of_the_own_program() {
        let own = file_at(own_code_is_of_the_own_program as *const () as usize);
        assert_eq!(own, Some(std::env::current_exe().unwrap()));
    }
}
