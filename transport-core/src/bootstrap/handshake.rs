//! The handshake of one connection, both sides, without any I/O.

use std::time::Duration;

use super::message::{Details, Nonce, Proof, ToClient, ToServer, VERSION};
use super::proof::{Prover, Statement};
use crate::config::Secret;

/// PE 0's side.
pub(crate) struct ServerHandshake<'a> {
    job_id: &'a str,
    secret: Option<&'a Secret>,
    nonce: Nonce,
    client_nonce: Option<Nonce>,
}

/// What PE 0 does next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ServerStep {
    Reply(ToClient),
    /// One of the job; the proof belongs into `Accepted`.
    Joined {
        details: Details,
        proof: Option<Proof>,
    },
    /// A stranger: tell it why and close.
    Refuse(String),
}

impl<'a> ServerHandshake<'a> {
    pub(crate) fn new(job_id: &'a str, secret: Option<&'a Secret>, nonce: Nonce) -> Self {
        Self { job_id, secret, nonce, client_nonce: None }
    }

    pub(crate) fn on_message(&mut self, message: ToServer) -> ServerStep {
        match (message, self.client_nonce) {
            (ToServer::Hello { version, .. }, None) if version != VERSION => ServerStep::Refuse(format!(
                "PE 0 speaks version {VERSION} of the bootstrap protocol, this PE version {version}; \
                 use the same build on every PE"
            )),
            (ToServer::Hello { nonce, .. }, None) => {
                self.client_nonce = Some(nonce);
                ServerStep::Reply(ToClient::Challenge {
                    version: VERSION,
                    nonce: self.nonce,
                    secret_needed: self.secret.is_some(),
                })
            }
            (ToServer::Join { details, proof }, Some(client_nonce)) => {
                self.judge(details, proof, &client_nonce)
            }
            _ => ServerStep::Refuse("it sent a message out of turn".to_owned()),
        }
    }

    fn judge(&self, details: Details, proof: Option<Proof>, client_nonce: &Nonce) -> ServerStep {
        let encoded = details.encode();
        let statement =
            |prover| Statement { prover, client_nonce, server_nonce: &self.nonce, details: &encoded };
        let server_proof = match (self.secret, proof) {
            (None, None) => None,
            (None, Some(_)) => return ServerStep::Refuse(NO_SECRET_ON_SERVER.to_owned()),
            (Some(_), None) => return ServerStep::Refuse(NO_SECRET_ON_CLIENT.to_owned()),
            (Some(secret), Some(proof)) => {
                if !statement(Prover::Client).verify(secret, &proof) {
                    return ServerStep::Refuse(SECRETS_DIFFER.to_owned());
                }
                statement(Prover::Server).prove(secret)
            }
        };
        if details.job_id != self.job_id {
            return ServerStep::Refuse(format!(
                "PE 0 serves job {:?}, this PE is of job {:?}; give each job its own port, \
                 and all PEs of one job the same SHMEM_JOB_ID",
                self.job_id, details.job_id
            ));
        }
        ServerStep::Joined { details, proof: server_proof }
    }
}

const NO_SECRET_ON_SERVER: &str =
    "this PE has a secret and PE 0 has none; set the same SHMEM_SECRET on every PE, or on none";
const NO_SECRET_ON_CLIENT: &str =
    "PE 0 requires a secret and this PE has none; set the same SHMEM_SECRET on every PE";
const SECRETS_DIFFER: &str =
    "the secrets differ; set the same SHMEM_SECRET on every PE (or is this another job's address?)";

/// The side of any other PE.
pub(crate) struct ClientHandshake<'a> {
    details: &'a Details,
    secret: Option<&'a Secret>,
    nonce: Nonce,
    server_nonce: Option<Nonce>,
}

/// What the client does next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ClientStep {
    Reply(ToServer),
    /// One of the job; all must have joined in so much time.
    Accepted {
        time_left: Duration,
    },
    /// Does not belong to this job, as one side or the other says.
    Refused(String),
    /// The other side is no rendezvous.
    Nonsense(&'static str),
}

impl<'a> ClientHandshake<'a> {
    pub(crate) fn new(details: &'a Details, secret: Option<&'a Secret>, nonce: Nonce) -> Self {
        Self { details, secret, nonce, server_nonce: None }
    }

    pub(crate) fn hello(&self) -> ToServer {
        ToServer::Hello { version: VERSION, nonce: self.nonce }
    }

    pub(crate) fn on_message(&mut self, message: ToClient) -> ClientStep {
        match (message, self.server_nonce) {
            (ToClient::Refused { reason }, _) => ClientStep::Refused(reason),
            (ToClient::Challenge { version, .. }, None) if version != VERSION => {
                ClientStep::Refused(format!(
                    "PE 0 speaks version {version} of the bootstrap protocol, this PE version {VERSION}; \
                 use the same build on every PE"
                ))
            }
            (ToClient::Challenge { nonce, secret_needed, .. }, None) => self.answer(nonce, secret_needed),
            (ToClient::Accepted { proof, time_left }, Some(server_nonce)) => {
                if self.server_is_right(&server_nonce, proof.as_ref()) {
                    ClientStep::Accepted { time_left }
                } else {
                    ClientStep::Refused(
                        "it could not prove that it knows the secret; is somebody else listening there?"
                            .to_owned(),
                    )
                }
            }
            _ => ClientStep::Nonsense("sent a message out of turn"),
        }
    }

    fn answer(&mut self, server_nonce: Nonce, secret_needed: bool) -> ClientStep {
        let encoded = self.details.encode();
        let statement = self.statement(Prover::Client, &server_nonce, &encoded);
        let proof = match (self.secret, secret_needed) {
            (None, false) => None,
            (None, true) => return ClientStep::Refused(NO_SECRET_ON_CLIENT.to_owned()),
            (Some(_), false) => return ClientStep::Refused(NO_SECRET_ON_SERVER.to_owned()),
            (Some(secret), true) => statement.prove(secret),
        };
        self.server_nonce = Some(server_nonce);
        ClientStep::Reply(ToServer::Join { details: self.details.clone(), proof })
    }

    fn server_is_right(&self, server_nonce: &Nonce, proof: Option<&Proof>) -> bool {
        let encoded = self.details.encode();
        match (self.secret, proof) {
            (None, None) => true,
            (Some(secret), Some(proof)) => {
                self.statement(Prover::Server, server_nonce, &encoded).verify(secret, proof)
            }
            _ => false,
        }
    }

    fn statement<'s>(&'s self, prover: Prover, server_nonce: &'s Nonce, details: &'s [u8]) -> Statement<'s> {
        Statement { prover, client_nonce: &self.nonce, server_nonce, details }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn details(job_id: &str) -> Details {
        Details {
            pe: 1,
            n_pes: 2,
            heap_size: 1 << 20,
            timeout: Duration::from_secs(1),
            job_id: job_id.into(),
            backend: "loopback".into(),
            all_gather: "auto".into(),
        }
    }

    /// Runs both sides against each other; `Ok` with what both ended in.
    fn run(server: Option<&str>, client: Option<&str>, job_id: &str) -> (ClientStep, Option<ServerStep>) {
        let (server, client) = (server.and_then(Secret::new), client.and_then(Secret::new));
        let details = details(job_id);
        let mut server = ServerHandshake::new("a", server.as_ref(), [1; 32]);
        let mut client = ClientHandshake::new(&details, client.as_ref(), [2; 32]);
        let ServerStep::Reply(challenge) = server.on_message(client.hello()) else { panic!("no challenge") };
        let join = match client.on_message(challenge) {
            ClientStep::Reply(join) => join,
            end => return (end, None),
        };
        match server.on_message(join) {
            ServerStep::Joined { proof, details } => {
                let accepted = ToClient::Accepted { proof, time_left: Duration::ZERO };
                (client.on_message(accepted), Some(ServerStep::Joined { proof, details }))
            }
            ServerStep::Refuse(reason) => (
                client.on_message(ToClient::Refused { reason: reason.clone() }),
                Some(ServerStep::Refuse(reason)),
            ),
            ServerStep::Reply(_) => panic!("a third message"),
        }
    }

    #[test]
    fn secrets_and_jobs() {
        let accepted = ClientStep::Accepted { time_left: Duration::ZERO };
        assert_eq!(run(None, None, "a").0, accepted);
        assert_eq!(run(Some("s"), Some("s"), "a").0, accepted);
        for (server, client, job, word) in [
            (Some("s"), Some("t"), "a", "differ"),
            (Some("s"), None, "a", "requires a secret"),
            (None, Some("s"), "a", "PE 0 has none"),
            (None, None, "b", "job \"b\""),
            (Some("s"), Some("s"), "b", "job \"b\""),
        ] {
            let (ClientStep::Refused(reason), _) = run(server, client, job) else { panic!("{word}: let in") };
            assert!(reason.contains(word), "{reason}");
        }
    }

    #[test]
    fn a_server_that_skips_its_proof_is_not_believed() {
        let (details, secret) = (details("a"), Secret::new("s"));
        let mut client = ClientHandshake::new(&details, secret.as_ref(), [2; 32]);
        let challenge = ToClient::Challenge { version: VERSION, nonce: [1; 32], secret_needed: true };
        assert!(matches!(client.on_message(challenge), ClientStep::Reply(_)));
        for proof in [None, Some([0; 32])] {
            let step = client.on_message(ToClient::Accepted { proof, time_left: Duration::ZERO });
            assert!(matches!(step, ClientStep::Refused(_)), "{step:?}");
        }
    }

    #[test]
    fn out_of_turn_and_other_versions() {
        let mut server = ServerHandshake::new("a", None, [1; 32]);
        let join = ToServer::Join { details: details("a"), proof: None };
        assert!(matches!(server.on_message(join), ServerStep::Refuse(_)));
        let step = server.on_message(ToServer::Hello { version: 99, nonce: [0; 32] });
        assert!(matches!(step, ServerStep::Refuse(reason) if reason.contains("version 99")));
        let details = details("a");
        let mut client = ClientHandshake::new(&details, None, [2; 32]);
        assert!(matches!(client.on_message(ToClient::Welcome), ClientStep::Nonsense(_)));
        let challenge = ToClient::Challenge { version: 99, nonce: [1; 32], secret_needed: false };
        assert!(matches!(client.on_message(challenge), ClientStep::Refused(_)));
    }
}
