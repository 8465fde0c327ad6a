//! What is read from a disk, and what is not understood.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use rustix::fs::{CWD, Mode};

use super::*;
use crate::rootinfo::read::MAX_BYTES;

#[track_caller]
fn fails(path: &Path, text: &str, remedy: &str) -> RootInfoError {
    let error = RootInfo::read(path).unwrap_err();
    let file = path.to_str().unwrap();
    assert_eq!(error.to_string(), text.replace("FILE", file));
    assert_eq!(error.remedy(), remedy.replace("FILE", file));
    error
}

/// What `command` prints.
#[track_caller]
fn typed(command: &str) -> String {
    let output = Command::new("sh").args(["-c", command]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{command}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_file_that_is_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("info.json");
    fs::write(&path, GOOD).unwrap();
    let info = RootInfo::read(&path).unwrap().unwrap();
    assert_eq!(info.nic_address(0), Ok("192.168.9.10".parse().unwrap()));
    let link = directory.path().join("link.json");
    symlink(&path, &link).unwrap();
    assert_eq!(RootInfo::read(&link).unwrap().unwrap().npus(), [0, 31]);
}

#[test]
fn no_such_file() {
    let directory = tempfile::tempdir().unwrap();
    assert!(RootInfo::read(&directory.path().join("info.json")).unwrap().is_none());
    assert!(RootInfo::read(&directory.path().join("no/info.json")).unwrap().is_none());
}

#[test]
fn a_link_that_leads_nowhere_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("info.json");
    symlink("/no/where.json", &path).unwrap();
    fails(
        &path,
        "FILE cannot be read: it is a link to /no/where.json, which is not there. Let this user read it, or name the NIC \
         with --device or SHMEM_NIC=name",
        "ls -lL FILE",
    );
}

#[test]
fn what_is_no_file_is_not_read_and_not_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    for path in [directory.path(), &pipe] {
        let error = fails(
            path,
            "FILE cannot be read: it is not a regular file. Let this user read it, or name the NIC with --device or \
             SHMEM_NIC=name",
            "ls -lL FILE",
        );
        assert!(typed(&error.remedy().replace("-lL", "-dlL")).contains(path.to_str().unwrap()));
    }
}

#[test]
fn what_the_system_refuses_is_told() {
    // Root may read everything, but not look for a file in a file.
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("file"), GOOD).unwrap();
    fails(
        &directory.path().join("file/info.json"),
        "FILE cannot be read: Not a directory (os error 20). Let this user read it, or name the NIC with --device or \
         SHMEM_NIC=name",
        "ls -lL FILE",
    );
}

#[test]
fn the_largest_file_and_one_byte_more() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("info.json");
    let mut text = GOOD.as_bytes().to_vec();
    text.resize(usize::try_from(MAX_BYTES).unwrap(), b' ');
    fs::write(&path, &text).unwrap();
    assert_eq!(RootInfo::read(&path).unwrap().unwrap().npus(), [0, 31]);
    text.push(b' ');
    fs::write(&path, &text).unwrap();
    fails(
        &path,
        "FILE is larger than 4 MiB, so that it is no file of NPUs and their NICs. Put the right file there, or name the \
         NIC with --device or SHMEM_NIC=name",
        "ls -lL FILE",
    );
}

#[track_caller]
fn not_understood(text: &str, cause: &str, remedy: &str) {
    let error = parsed(text).unwrap_err();
    let whole = format!(
        "/etc/hccl_rootinfo.json is not understood: {cause}. It must hold a rank_list with a device_id and a level_list for \
         each NPU. Correct the file, or name the NIC with --device or SHMEM_NIC=name"
    );
    assert_eq!(error.to_string(), whole);
    assert_eq!(error.remedy(), remedy.replace("FILE", "/etc/hccl_rootinfo.json"));
}

#[test]
fn not_the_json_that_is_expected() {
    not_understood("", "EOF while parsing a value at line 1 column 0", "sed -n '1,1p' FILE | cut -c 1-60");
    not_understood("{}", "missing field `rank_list` at line 1 column 2", "sed -n '1,1p' FILE | cut -c 1-62");
    not_understood(
        "{\n\"rank_list\": [\n{\"device_id\": 0},\n{\"local_id\": 1}\n]}",
        "missing field `device_id` at line 4 column 15",
        "sed -n '2,4p' FILE | cut -c 1-75",
    );
    not_understood(
        r#"{"rank_list": [{"device_id": 0}, {"device_id": -1}]}"#,
        "invalid type: integer `-1`, expected the number of an NPU in device_id at line 1 column 49",
        "sed -n '1,1p' FILE | cut -c 1-109",
    );
    not_understood(
        r#"{"rank_list": [{"device_id": 4294967296}]}"#,
        "invalid value: integer `4294967296`, expected the number of an NPU in device_id at line 1 column 39",
        "sed -n '1,1p' FILE | cut -c 1-99",
    );
    not_understood(
        r#"{"rank_list": [{"device_id": "NPU\n0"}]}"#,
        "invalid value: \"NPU\\n0\", expected the number of an NPU in device_id at line 1 column 37",
        "sed -n '1,1p' FILE | cut -c 1-97",
    );
    // Which of the two would count is not guessed.
    not_understood(
        r#"{"rank_list": [{"device_id": 0, "device_id": 1}]}"#,
        "duplicate field `device_id` at line 1 column 43",
        "sed -n '1,1p' FILE | cut -c 1-103",
    );
}

#[test]
fn a_long_text_of_the_file_is_cut_and_its_place_kept() {
    let text = format!(r#"{{"rank_list": "{}"}}"#, "x".repeat(5000));
    let cause = format!("invalid type: string \"{}... at line 1 column 5016", "x".repeat(178));
    not_understood(&text, &cause, "sed -n '1,1p' FILE | cut -c 4916-5076");
}

#[test]
fn a_tower_of_brackets_harms_nobody() {
    let (up, down) = ("[".repeat(1 << 20), "]".repeat(1 << 20));
    // Where nobody looks it is passed over, and elsewhere it is not climbed.
    let info = parsed(&format!(r#"{{"more": {up}{down}, "rank_list": [{{"device_id": 3}}]}}"#)).unwrap();
    assert_eq!(info.npus(), [3]);
    not_understood(
        &format!(r#"{{"more": {up}"#),
        "EOF while parsing a list at line 1 column 1048585",
        "sed -n '1,1p' FILE | cut -c 1048485-1048645",
    );
    for place in [
        r#"{"rank_list": TOWER}"#,
        r#"{"rank_list": [{"device_id": TOWER}]}"#,
        r#"{"rank_list": [{"device_id": 3, "level_list": TOWER}]}"#,
        r#"{"rank_list": [{"device_id": 3, "level_list": [{"rank_addr_list": [{"addr": TOWER}]}]}]}"#,
    ] {
        let error = parsed(&place.replace("TOWER", &format!("{up}{down}"))).unwrap_err();
        assert!(matches!(error, RootInfoError::NotUnderstood { line: 1, .. }), "{error}");
    }
}

#[test]
fn the_remedies_show_the_place() {
    let directory = tempfile::tempdir().unwrap();
    // A name that a shell would take apart.
    let path = directory.path().join("it's my $(info).json");
    fs::write(&path, GOOD.replace("192.168.9.10", "")).unwrap();
    let info = RootInfo::read(&path).unwrap().unwrap();
    let shown = typed(&info.nic_address(0).unwrap_err().remedy());
    assert!(shown.starts_with("7:      \"device_id\": 0,\n") && shown.contains("\"CLOS\""), "{shown}");
    fs::write(&path, GOOD.replace("fd00::9:11", "fd00")).unwrap();
    let info = RootInfo::read(&path).unwrap().unwrap();
    let shown = typed(&info.nic_address(31).unwrap_err().remedy());
    assert!(shown.starts_with("32:      \"device_id\": \"31\",\n") && shown.contains("\"fd00\""), "{shown}");
    fs::write(&path, GOOD.replace("\"31\",", "\"31\"")).unwrap();
    let shown = typed(&RootInfo::read(&path).unwrap_err().remedy());
    assert_eq!(shown, "    {\n      \"device_id\": \"31\"\n      \"local_id\": \"1\",\n");
}
