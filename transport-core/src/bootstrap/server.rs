//! PE 0's loop: accepts connections, carries events to the [`Coordinator`] and its actions out.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::commands::{Command, Commands};
use super::connection::LINGER;
use super::coordinator::{Action, ConnId, Coordinator, LOCAL};
use super::error::BootstrapError;
use super::file::{self, Published};
use super::join_spec::JoinSpec;
use super::listener;
use super::member::Member;
use super::message::{Details, ToClient, ToServer};
use super::visitor::{self, House, News, NewsDesk};

/// Unknown connections beyond this and two for each PE are too many: the oldest goes.
const HALF_OPEN: usize = 128;
/// How long to leave the listener alone when the system has no descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

struct Server {
    listener: TcpListener,
    accept_after: Instant,
    /// Accepting has failed before.
    accept_failed: bool,
    house: Arc<House>,
    coordinator: Coordinator,
    member: Member,
    visitors: HashMap<ConnId, Visitor>,
    half_open: VecDeque<ConnId>,
    half_open_limit: usize,
    next_conn: ConnId,
    news: mpsc::Receiver<(ConnId, News)>,
    desk: mpsc::Sender<(ConnId, News)>,
    commands: Commands,
    /// PE 0's own goodbye waits until the others have theirs, or until then.
    goodbye_until: Option<Instant>,
    /// What PE 0 itself is to hear once it has been sent to the others: its process may end at once.
    own_news: Vec<ToClient>,
    _published: Option<Published>,
}

struct Visitor {
    from: String,
    outbox: Option<mpsc::UnboundedSender<Bytes>>,
    task: AbortHandle,
}

/// Whether the handle still wants us.
#[derive(PartialEq, Eq)]
enum Step {
    Go,
    Released,
}

/// Serves the job until its [`Bootstrap`](super::Bootstrap) is dropped; says once how joining ended.
pub(crate) async fn run(
    mut spec: JoinSpec,
    commands: Commands,
    joined: oneshot::Sender<Result<SocketAddr, BootstrapError>>,
) {
    let (mut server, address) = match Server::open(&mut spec, commands).await {
        Ok(opened) => opened,
        Err(error) => return drop(joined.send(Err(error))),
    };
    server.join_self(&spec);
    let outcome = loop {
        if let Some(outcome) = server.member.joined() {
            break outcome;
        }
        if server.step(None).await == Step::Released {
            return server.close().await;
        }
    };
    if let Err(error) = outcome {
        // Those who come too late for the verdict would otherwise knock until their own deadline.
        server.stay_for_latecomers().await;
        server.close().await;
        return drop(joined.send(Err(error)));
    }
    drop(joined.send(Ok(address)));
    while server.step(None).await == Step::Go {}
    server.close().await;
}

impl Server {
    async fn open(spec: &mut JoinSpec, commands: Commands) -> Result<(Self, SocketAddr), BootstrapError> {
        let (listener, address) = listener::open(spec).await?;
        let publish = |path: &std::path::PathBuf| {
            file::publish(path, address)
                .map_err(|error| BootstrapError::Publish { path: path.clone(), cause: error.to_string() })
        };
        let published = spec.rendezvous_file.as_ref().map(publish).transpose()?;
        // A bound: a flood of messages waits in the sockets, not here.
        let (desk, news) = mpsc::channel(256);
        let now = Instant::now();
        let server = Self {
            listener,
            accept_after: now,
            accept_failed: false,
            house: Arc::new(House { job_id: spec.job_id.clone(), secret: spec.secret.clone() }),
            coordinator: Coordinator::new(spec.n_pes, spec.timeout, now.into_std()),
            member: Member::new(0, spec.n_pes, address.to_string(), spec.timeout),
            visitors: HashMap::new(),
            half_open: VecDeque::new(),
            half_open_limit: HALF_OPEN + 2 * spec.n_pes,
            next_conn: LOCAL + 1,
            news,
            desk,
            commands,
            goodbye_until: None,
            own_news: Vec::new(),
            _published: published,
        };
        Ok((server, address))
    }

    fn join_self(&mut self, spec: &JoinSpec) {
        let actions = self.coordinator.join(LOCAL, Details::from(spec), None, "PE 0 itself", now());
        self.apply(actions);
    }

    /// Waits for one thing to happen, at most until `limit`, and does what follows from it.
    async fn step(&mut self, limit: Option<Instant>) -> Step {
        let deadlines = [
            limit,
            self.goodbye_until,
            self.coordinator.deadline().map(Instant::from_std),
            self.member.deadline().map(Instant::from_std),
        ];
        let wake = deadlines.into_iter().flatten().min();
        let accepting = self.accept_after;
        tokio::select! {
            () = sleep_until(wake) => {
                let actions = self.coordinator.tick(now());
                self.apply(actions);
                self.member.tick(now());
            }
            Some((conn, news)) = self.news.recv() => self.on_news(conn, news),
            command = self.commands.recv(), if limit.is_none() => match command {
                Some(command) => self.on_command(command),
                None => return Step::Released,
            },
            accepted = accept(&self.listener, accepting) => self.on_accept(accepted),
        }
        self.hear_own_news().await;
        self.say_own_goodbye();
        Step::Go
    }

    fn on_accept(&mut self, accepted: std::io::Result<(TcpStream, SocketAddr)>) {
        let (stream, from) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Most often: no descriptors left. What is half open makes room. Said once, and in the verdict: it is
                // tried again and again.
                if !std::mem::replace(&mut self.accept_failed, true) {
                    let reason =
                        format!("PE 0 cannot accept it: {error} (`ulimit -n` shows the limit of open files)");
                    self.coordinator.refuse("a connection", &reason);
                }
                self.evict_oldest();
                self.accept_after = Instant::now() + ACCEPT_PAUSE;
                return;
            }
        };
        if self.half_open.len() >= self.half_open_limit {
            self.evict_oldest();
        }
        let conn = self.next_conn;
        self.next_conn += 1;
        let (outbox, queue) = mpsc::unbounded_channel();
        let desk = NewsDesk { conn, sender: self.desk.clone() };
        let task = tokio::spawn(visitor::serve(stream, self.house.clone(), desk, queue)).abort_handle();
        self.visitors.insert(conn, Visitor { from: from.to_string(), outbox: Some(outbox), task });
        self.half_open.push_back(conn);
    }

    fn evict_oldest(&mut self) {
        if let Some(visitor) = self.half_open.pop_front().and_then(|conn| self.visitors.remove(&conn)) {
            tracing::debug!("bootstrap: too many unknown connections; dropped {}", visitor.from);
            visitor.task.abort();
        }
    }

    fn on_news(&mut self, conn: ConnId, news: News) {
        // One that was evicted may have spoken just before.
        let Some(visitor) = self.visitors.get(&conn) else { return };
        let actions = match news {
            News::Joining { details, proof } => {
                self.half_open.retain(|other| *other != conn);
                self.coordinator.join(conn, details, proof, &visitor.from, now())
            }
            News::Message(message) => self.coordinator.message(conn, message, now()),
            News::Closed(cause) => self.coordinator.closed(conn, &cause),
            News::Refused(reason) => {
                self.coordinator.refuse(&visitor.from, &reason);
                Vec::new()
            }
            News::Ended => {
                self.half_open.retain(|other| *other != conn);
                self.visitors.remove(&conn);
                self.coordinator.closed(conn, "its connection was closed")
            }
        };
        self.apply(actions);
    }

    fn on_command(&mut self, command: Command) {
        match command {
            Command::Call { call, payload, reply } => {
                if let Some(message) = self.member.begin(call, payload, reply, now()) {
                    self.on_own_message(message);
                }
            }
            Command::Abort(reason) => self.on_own_message(ToServer::Abort { reason }),
            Command::OnPeerLost(hook) => self.member.add_hook(hook),
        }
    }

    fn on_own_message(&mut self, message: ToServer) {
        let actions = self.coordinator.message(LOCAL, message, now());
        self.apply(actions);
    }

    fn apply(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Send(to, message) => self.send(&to, message),
                Action::Close(conn) => {
                    if let Some(visitor) = self.visitors.get_mut(&conn) {
                        visitor.outbox = None;
                    }
                }
            }
        }
    }

    /// Encodes once, however many it goes to.
    fn send(&mut self, to: &[ConnId], message: ToClient) {
        match message.encode() {
            Ok(frame) => {
                let outboxes = to.iter().filter_map(|conn| self.visitors.get(conn)?.outbox.as_ref());
                // A queue whose writer is gone belongs to a connection whose end is on its way to us.
                outboxes.for_each(|outbox| drop(outbox.send(frame.clone())));
            }
            // Messages are made to fit; if one does not, its receivers would wait in vain.
            Err(error) => tracing::error!("bootstrap: cannot send a message: it {error}"),
        }
        if !to.contains(&LOCAL) {
            return;
        }
        if message == ToClient::Goodbye {
            self.goodbye_until = Some(Instant::now() + LINGER);
        } else if matches!(message, ToClient::Lost { .. } | ToClient::Failed(_)) {
            self.own_news.push(message);
        } else if !matches!(message, ToClient::Accepted { .. })
            && let Err(problem) = self.member.on_message(message)
        {
            tracing::error!("bootstrap: PE 0 {problem} to itself");
        }
    }

    /// Lets the writers run before PE 0's own process hears bad news: it may exit on the spot, and the others would see
    /// only that PE 0 is gone, not whose fault it is.
    async fn hear_own_news(&mut self) {
        if self.own_news.is_empty() {
            return;
        }
        // Each time, the runtime gives some 60 waiting tasks their turn.
        for _ in 0..2 + self.visitors.len() / 32 {
            tokio::task::yield_now().await;
        }
        for message in std::mem::take(&mut self.own_news) {
            if let Err(problem) = self.member.on_message(message) {
                tracing::error!("bootstrap: PE 0 {problem} to itself");
            }
        }
    }

    /// PE 0's process may end after its goodbye, so the others have theirs first.
    fn say_own_goodbye(&mut self) {
        let Some(limit) = self.goodbye_until else { return };
        let others = self.visitors.keys().any(|conn| !self.half_open.contains(conn));
        if !others || limit <= Instant::now() {
            self.goodbye_until = None;
            if let Err(problem) = self.member.on_message(ToClient::Goodbye) {
                tracing::error!("bootstrap: PE 0 {problem} to itself");
            }
        }
    }

    /// After a failure: answers those who come now, for a short while.
    async fn stay_for_latecomers(&mut self) {
        let limit = Instant::now() + LINGER;
        while Instant::now() < limit
            && (self.coordinator.expects_more() || self.visitors.len() > self.half_open.len())
        {
            self.step(Some(limit)).await;
        }
    }

    /// Sends what has been said, then closes all connections and waits shortly for the other sides to have read it.
    async fn close(mut self) {
        while !self.half_open.is_empty() {
            self.evict_oldest();
        }
        self.visitors.values_mut().for_each(|visitor| visitor.outbox = None);
        let limit = Instant::now() + LINGER;
        while !self.visitors.is_empty() && Instant::now() < limit {
            tokio::select! {
                () = tokio::time::sleep_until(limit) => {}
                Some((conn, news)) = self.news.recv() => {
                    if matches!(news, News::Ended) {
                        self.visitors.remove(&conn);
                    }
                }
            }
        }
    }
}

fn now() -> std::time::Instant {
    std::time::Instant::now()
}

async fn accept(listener: &TcpListener, not_before: Instant) -> std::io::Result<(TcpStream, SocketAddr)> {
    if Instant::now() < not_before {
        tokio::time::sleep_until(not_before).await;
    }
    listener.accept().await
}

/// Sleeps until then; for ever if there is nothing to wait for.
pub(crate) async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(wake) => tokio::time::sleep_until(wake).await,
        None => std::future::pending().await,
    }
}
