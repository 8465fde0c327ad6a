//! Each side proves that it knows the job's secret, without sending it.
//!
//! A proof is HMAC-SHA256 over a label (so that one side's proof is no use as the other's), both nonces (so that an old
//! one is no use again) and what the client said of itself (so that nobody can alter it on the way).

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::message::{Nonce, Proof};
use crate::config::Secret;

/// Whose proof it is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Prover {
    Client,
    Server,
}

/// What a proof is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Statement<'a> {
    pub(crate) prover: Prover,
    pub(crate) client_nonce: &'a Nonce,
    pub(crate) server_nonce: &'a Nonce,
    pub(crate) details: &'a [u8],
}

impl Statement<'_> {
    /// `None` only if HMAC does not take the key, which for HMAC-SHA256 does not happen.
    fn mac(&self, secret: &Secret) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.bytes()).ok()?;
        mac.update(match self.prover {
            Prover::Client => b"shmem bootstrap: client",
            Prover::Server => b"shmem bootstrap: server",
        });
        mac.update(self.client_nonce);
        mac.update(self.server_nonce);
        mac.update(self.details);
        Some(mac)
    }

    pub(crate) fn prove(&self, secret: &Secret) -> Option<Proof> {
        Some(self.mac(secret)?.finalize().into_bytes().into())
    }

    /// Takes the same time wherever a wrong proof differs.
    pub(crate) fn verify(&self, secret: &Secret, proof: &Proof) -> bool {
        self.mac(secret).is_some_and(|mac| mac.verify_slice(proof).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_holds_for_one_statement_and_one_secret_only() {
        let (secret, other) = (Secret::new("right").unwrap(), Secret::new("wrong").unwrap());
        let (a, b) = ([1; 32], [2; 32]);
        let statement =
            Statement { prover: Prover::Client, client_nonce: &a, server_nonce: &b, details: b"pe 1" };
        let proof = statement.prove(&secret).unwrap();
        assert!(statement.verify(&secret, &proof));
        assert!(!statement.verify(&other, &proof));
        assert!(!Statement { prover: Prover::Server, ..statement }.verify(&secret, &proof));
        assert!(!Statement { client_nonce: &b, server_nonce: &a, ..statement }.verify(&secret, &proof));
        assert!(!Statement { details: b"pe 2", ..statement }.verify(&secret, &proof));
    }
}
