//! What the demo does, on any backend.

use std::io::{Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use demos::Job;
use transport_core::collectives::{AllGatherAlgorithm, all_gather_in_place};
use transport_core::graph::{CaptureMode, DeviceBuffer, Graph, GraphError, HostBuffer, Stream, kernels};
use transport_core::{SymSlice, Transport, wait};

/// What was asked for, checked.
pub(crate) struct Plan {
    /// The program's name, for messages.
    pub(crate) program: String,
    /// Elements of each PE.
    pub(crate) elements: usize,
    /// How often the graph is launched.
    pub(crate) loops: u64,
    /// The device of this PE.
    pub(crate) device: usize,
    /// The same, if it was given as an NPU and not counted.
    pub(crate) npu: Option<usize>,
    /// Where the graph is drawn.
    pub(crate) dot: Option<PathBuf>,
}

/// The job failed, and has said why.
pub(crate) struct Failed;

impl Job for Plan {
    type Output = Result<(), Failed>;

    fn run<X: Transport>(self, transport: X) -> Self::Output {
        let transport = Arc::new(transport);
        self.whole(&transport, &mut stdout()).map_err(|message| {
            // It is said here, since a NIC in trouble may keep its queue pairs, and so the end of this process, for seconds.
            let _ = writeln!(stderr(), "{}: {message}", self.program);
            Failed
        })
    }
}

impl Plan {
    /// All of the job, from the first call of `transport` to its last; `out` gets what it says. `Err` says what went wrong, and
    /// then the others know of it.
    pub(crate) fn whole<X: Transport>(&self, transport: &Arc<X>, out: &mut impl Write) -> Result<(), String> {
        let worked = self.work(transport, out);
        let ended =
            worked.and_then(|()| wait::block_on(transport.finalize()).map_err(|error| error.to_string()));
        // The others need not wait for this PE; what it says first is why.
        ended.inspect_err(|message| transport.abort(message))
    }

    /// The rounds; wrong results are an error too.
    fn work<X: Transport>(&self, transport: &Arc<X>, out: &mut impl Write) -> Result<(), String> {
        self.check_started_alike(&**transport)?;
        let mut buffers = Buffers::new(&**transport, self.elements).map_err(|error| error.to_string())?;
        let (pe, n_pes, backend) = (transport.my_pe(), transport.n_pes(), transport.backend());
        say(out, &format!("relative pe={pe} of {n_pes}: device {}, backend {backend}", self.device))?;

        let wrong = buffers.rounds(transport, self, out)?;
        if wrong > 0 {
            return Err(format!("{wrong} of {} rounds gave a wrong result", self.loops));
        }
        say(out, &format!("check transport result success, relative pe={pe}"))
    }

    /// PEs that do not do the same rounds of the same size would wait for each other in the wrong places.
    fn check_started_alike<X: Transport>(&self, transport: &X) -> Result<(), String> {
        let names = ["--elements", "--loops"];
        let mine = [self.elements as u64, self.loops];
        let (my_pe, n_pes) = (transport.my_pe(), transport.n_pes());
        let all = wait::block_on(async {
            let all = transport.alloc::<u64>(n_pes * mine.len()).await?;
            transport.heap().write(all.part(my_pe, n_pes)?, &mine)?;
            all_gather_in_place(transport, all, AllGatherAlgorithm::Textbook).await?;
            let values = transport.heap().read_vec(all)?;
            transport.free(all).await.map(|()| values)
        });
        let all = all.map_err(|error| error.to_string())?;
        let (first, _) = all.split_at(mine.len());
        for (pe, theirs) in all.chunks(mine.len()).enumerate() {
            if let Some(i) = (0..mine.len()).find(|&i| theirs[i] != first[i]) {
                return Err(format!(
                    "PE {my_pe}: PE {pe} was started with {name} {}, PE 0 with {name} {}; start all PEs with the same options",
                    theirs[i],
                    first[i],
                    name = names[i],
                ));
            }
        }
        Ok(())
    }
}

/// All memory of the job; `all` is `n_pes` times the elements of one PE.
struct Buffers {
    ptr: SymSlice<i32>,
    b_ptr: SymSlice<i32>,
    add: DeviceBuffer<i32>,
    temp: DeviceBuffer<i32>,
    c: DeviceBuffer<i32>,
    y_host: HostBuffer<i32>,
    /// `y_host`, to look at.
    y: Vec<i32>,
    elements: usize,
}

impl Buffers {
    /// Allocates, and sets this PE's parts of `ptr`, `b_ptr` and `add` to its number plus ten.
    fn new<X: Transport>(transport: &X, elements: usize) -> Result<Self, GraphError> {
        let (my_pe, n_pes) = (transport.my_pe(), transport.n_pes());
        let all = n_pes * elements;
        let (ptr, b_ptr) = wait::block_on(async {
            let ptr = transport.alloc::<i32>(all).await?;
            transport.alloc::<i32>(all).await.map(|b_ptr| (ptr, b_ptr))
        })?;
        let mine = my_pe * elements..(my_pe + 1) * elements;
        let value = first_value(my_pe);
        transport.heap().fill(ptr.slice(mine.clone())?, value)?;
        transport.heap().fill(b_ptr.slice(mine.clone())?, value)?;
        let mut add = vec![0; all];
        add[mine].fill(value);
        Ok(Self {
            ptr,
            b_ptr,
            add: DeviceBuffer::from_slice(&add)?,
            temp: DeviceBuffer::zeroed(all)?,
            c: DeviceBuffer::zeroed(all)?,
            y_host: HostBuffer::zeroed(all)?,
            y: vec![0; all],
            elements,
        })
    }

    /// Captures in the first round, launches in all, checks after each. Answers how many rounds gave a wrong result.
    fn rounds<X: Transport>(
        &mut self,
        transport: &Arc<X>,
        plan: &Plan,
        out: &mut impl Write,
    ) -> Result<u64, String> {
        let failed = |error: GraphError| error.to_string();
        let stream = Stream::create(Arc::clone(transport)).map_err(failed)?;
        let mut captured = None;
        let mut drawn = Ok(());
        let mut wrong = 0;
        for round in 0..plan.loops {
            let graph = match &captured {
                Some(graph) => graph,
                None => {
                    let graph = self.capture(&stream).map_err(failed)?;
                    drawn = plan.dot.as_deref().map_or(Ok(()), |file| draw(&graph, file));
                    captured.insert(graph)
                }
            };
            graph
                .launch(&stream)
                .and_then(|()| stream.memcpy_async(&self.y_host, &self.c))
                .and_then(|()| stream.synchronize())
                .and_then(|()| self.y_host.read(&mut self.y))
                .map_err(failed)?;
            wrong += u64::from(!self.check(transport.my_pe(), round, out));
        }
        drawn.map(|()| wrong)
    }

    /// The program of one round: temp = ptr + add; ptr = temp; gather ptr; gather b_ptr; c = ptr + b_ptr.
    ///
    /// How it gathers is a setting of the job, on which all PEs agreed when they met.
    fn capture<X: Transport>(&self, stream: &Stream<X>) -> Result<Graph, GraphError> {
        stream.capture_begin(CaptureMode::Relaxed)?;
        stream.launch_kernel(kernels::vector_add(&self.temp, self.ptr, &self.add))?;
        stream.memcpy_async(self.ptr, &self.temp)?;
        stream.all_gather_in_place(self.ptr, AllGatherAlgorithm::Auto)?;
        stream.all_gather_in_place(self.b_ptr, AllGatherAlgorithm::Auto)?;
        stream.launch_kernel(kernels::vector_add(&self.c, self.ptr, self.b_ptr))?;
        stream.capture_end()
    }

    /// Whether the round's result is right; the first wrong element of each PE's part is shown.
    fn check(&self, my_pe: usize, round: u64, out: &mut impl Write) -> bool {
        let mut right = true;
        for (pe, part) in self.y.chunks(self.elements.max(1)).enumerate() {
            let expected = first_value(pe).wrapping_mul(3_i32.wrapping_add(round as i32));
            if let Some((j, actual)) = part.iter().enumerate().find(|&(_, actual)| *actual != expected) {
                right = false;
                let idx = self.elements * pe + j;
                let line = format!(
                    "ERROR loop: {round}, pe: {my_pe}, pe_id: {pe}, idx: {idx}, actual: {actual} != expected: {expected}"
                );
                let _ = say(out, &line);
            }
        }
        right
    }
}

/// What a PE's part holds at first.
fn first_value(pe: usize) -> i32 {
    (pe as i32).wrapping_add(10)
}

fn draw(graph: &Graph, file: &Path) -> Result<(), String> {
    std::fs::write(file, graph.to_dot()).map_err(|error| format!("--dot {}: {error}", file.display()))
}

fn say(out: &mut impl Write, line: &str) -> Result<(), String> {
    writeln!(out, "{line}").map_err(|error| format!("standard output: {error}"))
}
