//! The commands that measure.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::arguments::Bind;
use crate::find::Ours;
use crate::peers::{System, Variant};
use crate::work::{Kind, Work};
use crate::{handoff, turns};

/// How works are measured, whoever does them.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) seconds: Duration,
    pub(crate) deadline: Duration,
    pub(crate) bind: Bind,
    /// Of this machine, that may be used.
    pub(crate) cores: usize,
    /// Whether Open MPI has to be told that it may.
    pub(crate) is_root: bool,
}

/// Where PEs run, as a table says it.
pub(crate) fn binding(settings: &Settings, n_pes: usize) -> &'static str {
    match settings.bind {
        _ if n_pes > settings.cores => "shared cores",
        Bind::Core => "bound to cores",
        Bind::None => "not bound",
    }
}

fn are_bound(settings: &Settings, n_pes: usize) -> bool {
    n_pes <= settings.cores && settings.bind == Bind::Core
}

/// The symmetric heap that works need, in bytes.
fn heap(works: &[Work]) -> usize {
    // The peers' program has a source of a part for each PE and a destination of twice that.
    let most = works.iter().map(|work| 3 * work.n_pes * work.bytes.next_multiple_of(4096)).max();
    most.unwrap_or(0) + (16 << 20)
}

/// Works of a group for MPI or OpenSHMEM; of [`Kind::StartUp`]: the launch of a program that does nothing.
pub(crate) fn of_open_mpi(variant: &Variant, program: &Path, works: &[Work], settings: &Settings) -> Command {
    let n_pes = works.first().map_or(2, |work| work.n_pes);
    let is_shmem = variant.system == System::OpenShmem;
    let mut command = Command::new(if is_shmem { "oshrun" } else { "mpirun" });
    command.args(["-n", &n_pes.to_string()]).args(variant.options);
    if settings.is_root {
        command.arg("--allow-run-as-root");
    }
    if n_pes > settings.cores {
        command.arg("--oversubscribe");
    }
    command.args(["--bind-to", if are_bound(settings, n_pes) { "core" } else { "none" }]);
    if is_shmem {
        command.arg("-x").arg(format!("SHMEM_SYMMETRIC_SIZE={}", heap(works)));
    }
    command.arg(program);
    if !works.iter().any(|work| work.kind == Kind::StartUp) {
        command.arg(settings.seconds.as_secs_f64().to_string());
        command.args(works.iter().map(|work| variant.asks_for(work)));
    }
    command
}

/// A work for UCX's own program: the one that waits for the other, and the other.
pub(crate) fn of_ucx(work: &Work, settings: &Settings) -> std::io::Result<[Command; 2]> {
    // Free now; if another process takes it before, the program says so.
    let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port().to_string();
    let test: &[&str] = match work.kind {
        Kind::Get => &["ucp_get", "-O", "1"],
        Kind::Put => &["ucp_put_bw"],
        _ => &["ucp_put_lat"],
    };
    // It counts and does not time: about the wanted seconds at 20 million calls, or 10 GB, a second.
    let each = if work.kind == Kind::PingPong { 1e-6 } else { 5e-8_f64.max(work.bytes as f64 / 1e10) };
    let count = ((settings.seconds.as_secs_f64() / each) as u64).max(20);
    let command = |core: usize| {
        let mut command = Command::new("ucx_perftest");
        command.arg("-t").args(test).args(["-f", "-p", &port]).args(["-s", &work.bytes.to_string()]);
        command.args(["-n", &count.to_string(), "-w", &(count / 10 + 1).to_string()]);
        if are_bound(settings, work.n_pes) {
            command.args(["-c", &core.to_string()]);
        }
        command
    };
    let (server, mut client) = (command(0), command(1));
    client.arg("127.0.0.1");
    Ok([server, client])
}

/// A program of ours under `shmrun`, bound as the peers are.
fn of_shmrun(ours: &Ours, program: &Path, n_pes: usize, settings: &Settings) -> Command {
    let mut command = Command::new(&ours.shmrun);
    command.args(["-n", &n_pes.to_string(), "--no-prefix"]);
    if are_bound(settings, n_pes) {
        command.args(["--bind", "core"]);
    }
    command.arg(program);
    command
}

/// Works of a group for our `perf`; of [`Kind::StartUp`]: the launch of the least that it can do, which is a barrier.
pub(crate) fn of_ours(ours: &Ours, works: &[Work], settings: &Settings) -> Command {
    let n_pes = works.first().map_or(2, |work| work.n_pes);
    let mut command = of_shmrun(ours, &ours.perf, n_pes, settings);
    command.args(["--backend", "loopback", "--repeat", "1", "--json"]);
    command.args(["--heap", &heap(works).to_string()]);
    if works.iter().any(|work| work.kind == Kind::StartUp) {
        command.args(["--rounds", "1", "barrier"]);
        return command;
    }
    command.args(["--seconds", &settings.seconds.as_secs_f64().to_string()]);
    for work in works {
        if let Some(name) = work.kind.of_ours() {
            let sized = || format!("{name}:{}", work.bytes);
            command.arg(if work.kind.has_size() { sized() } else { name.to_owned() });
        }
    }
    command
}

/// The bare hand-off, or the bare turns, launched as ours are.
pub(crate) fn of_bare(ours: &Ours, works: &[Work], shared: &handoff::Shared, settings: &Settings) -> Command {
    let n_pes = works.first().map_or(2, |work| work.n_pes);
    let is_turns = works.iter().any(|work| work.kind == Kind::Turns);
    let mut command = of_shmrun(ours, &ours.itself, n_pes, settings);
    command
        .arg(if is_turns { turns::ROLE } else { handoff::ROLE })
        .arg(settings.seconds.as_secs_f64().to_string())
        .arg(&shared.name);
    command
}

/// Where the peers' programs are built, for as long as this is there: beside this program, or, if that cannot be written, among
/// what is temporary.
///
/// # Errors
///
/// What the system says of the latter.
pub(crate) fn build_directory(ours: &Ours) -> std::io::Result<TempDir> {
    let mut named = tempfile::Builder::new();
    let beside = ours.itself.parent().unwrap_or(Path::new("."));
    named.prefix("compare-").tempdir_in(beside).or_else(|_| named.tempdir())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::VARIANTS;

    fn settings(bind: Bind) -> Settings {
        let seconds = Duration::from_millis(200);
        Settings { seconds, deadline: Duration::from_secs(9), bind, cores: 2, is_root: true }
    }

    fn line(command: &Command) -> String {
        let words = command.get_args().map(|word| word.to_string_lossy());
        std::iter::once(command.get_program().to_string_lossy()).chain(words).collect::<Vec<_>>().join(" ")
    }

    fn ours() -> Ours {
        Ours { shmrun: "b/shmrun".into(), perf: "b/perf".into(), itself: "b/compare".into() }
    }

    #[test]
    fn both_sides_are_bound_or_neither() {
        let barrier = |n_pes| [Work { kind: Kind::Barrier, n_pes, bytes: 0 }];
        for (bind, n_pes, mpi, own) in [
            (Bind::Core, 2, "--bind-to core p 0.2 barrier:0", "--bind core b/perf"),
            (Bind::None, 2, "--bind-to none p", "--no-prefix b/perf"),
            (Bind::Core, 4, "--oversubscribe --bind-to none p", "--no-prefix b/perf"),
        ] {
            let settings = settings(bind);
            let theirs = line(&of_open_mpi(&VARIANTS[0], Path::new("p"), &barrier(n_pes), &settings));
            assert!(
                theirs.starts_with(&format!("mpirun -n {n_pes} --mca ")) && theirs.contains(mpi),
                "{theirs}"
            );
            let ours = line(&of_ours(&ours(), &barrier(n_pes), &settings));
            assert!(ours.contains(own) && ours.ends_with("--seconds 0.2 barrier"), "{ours}");
        }
    }

    #[test]
    fn each_launch_asks_for_the_works_of_its_group() {
        let settings = settings(Bind::Core);
        let works = [8, 1 << 20].map(|bytes| Work { kind: Kind::Get, n_pes: 2, bytes });
        let shmem = line(&of_open_mpi(&VARIANTS[3], Path::new("p"), &works, &settings));
        assert!(shmem.contains("oshrun ") && shmem.contains("SHMEM_SYMMETRIC_SIZE=23068672"), "{shmem}");
        assert!(shmem.ends_with("p 0.2 get:8 get:1048576"), "{shmem}");
        let own = line(&of_ours(&ours(), &works, &settings));
        assert!(own.ends_with("--seconds 0.2 get:8 get:1048576"), "{own}");
        let start = [Work { kind: Kind::StartUp, n_pes: 2, bytes: 0 }];
        assert!(line(&of_open_mpi(&VARIANTS[0], Path::new("p"), &start, &settings)).ends_with(" p"));
        assert!(line(&of_ours(&ours(), &start, &settings)).ends_with("--rounds 1 barrier"));
        let [server, client] = of_ucx(&works[0], &settings).unwrap();
        assert!(line(&server).contains("ucp_get -O 1 -f") && line(&client).ends_with("-c 1 127.0.0.1"));
    }
}
