//! Who listens on a port of this host, as far as `/proc` shows it.

use std::fs;
use std::path::Path;

/// ` by process 4711 (name)` for an error message, or nothing if it cannot be seen (another user's process).
pub(crate) fn describe(port: u16) -> String {
    find(port).map_or_else(String::new, |(pid, name)| format!(" by process {pid} ({name})"))
}

fn find(port: u16) -> Option<(u32, String)> {
    let inodes: Vec<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| listening_inodes(&table, port))
        .collect();
    if inodes.is_empty() {
        return None;
    }
    let targets: Vec<String> = inodes.iter().map(|inode| format!("socket:[{inode}]")).collect();
    let processes = fs::read_dir("/proc").ok()?.flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()).find_map(|pid| {
        let directory = Path::new("/proc").join(pid.to_string());
        let holds = fs::read_dir(directory.join("fd")).ok()?.flatten().any(|fd| {
            fs::read_link(fd.path())
                .is_ok_and(|link| targets.iter().any(|target| link.as_os_str() == target.as_str()))
        });
        let name = || fs::read_to_string(directory.join("comm")).map(|name| name.trim().to_owned());
        holds.then(|| (pid, name().unwrap_or_default()))
    })
}

/// The inodes of sockets that listen on `port`, out of the text of `/proc/net/tcp`.
fn listening_inodes(table: &str, port: u16) -> Vec<String> {
    const LISTEN: &str = "0A";
    let inode = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
        let (_, hex_port) = local.rsplit_once(':')?;
        (*state == LISTEN && u16::from_str_radix(hex_port, 16).ok()? == port).then(|| (*inode).to_owned())
    };
    table.lines().skip(1).filter_map(inode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_listener_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        // Where /proc is mounted at all.
        if Path::new("/proc/net/tcp").exists() {
            assert_eq!(find(port).map(|(pid, _)| pid), Some(std::process::id()));
        }
        drop(listener);
        assert_eq!(listening_inodes("header\nrubbish\n 0: 0100007F:22C3 x 0A", 8899), Vec::<String>::new());
    }
}
