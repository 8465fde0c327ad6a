//! The job of the two PEs, step by step, and what it tells meanwhile.

use std::sync::mpsc::Sender;

use demos::{Job, StartError};
use transport_core::{Result, Transport, wait};

use super::pair::{LAPS, Pair, VERDICT};

/// The hosts find each other.
pub(super) const MEETS: &str = "meets";
/// They agree, and the backend starts.
pub(super) const FITS: &str = "fits";
/// Data that one writes arrives at the other, before its signal, whole.
pub(super) const WRITE: &str = "write";
/// Data is read from the other.
pub(super) const GET: &str = "get";
/// Atomics of both on one word lose nothing.
pub(super) const ATOMIC: &str = "atomic";
/// How long it takes.
pub(super) const LATENCY: &str = "latency";
/// Both leave in good order.
pub(super) const LEAVES: &str = "leaves";

/// What is told while the job runs.
pub(super) enum News {
    /// A step went well.
    Well(&'static str, String),
    /// It failed, with the error that kept the job from its start if that was it.
    Failed(&'static str, String, Option<StartError>),
}

/// Tells; who no longer listens has given up and said so.
pub(super) fn tell(to: &Sender<News>, news: News) {
    let _ = to.send(news);
}

/// The job.
pub(super) struct Proof {
    /// Whom to tell.
    pub(super) news: Sender<News>,
    /// Where they met, for people.
    pub(super) met: String,
    /// What both run on.
    pub(super) backend: &'static str,
}

impl Job for Proof {
    type Output = ();

    fn run<X: Transport>(self, transport: X) {
        tell(&self.news, News::Well(MEETS, self.met.clone()));
        let fits = format!("both run on backend {} and are connected", self.backend);
        tell(&self.news, News::Well(FITS, fits));
        let mut step = WRITE;
        if let Err(error) = wait::block_on(self.prove(&transport, &mut step)) {
            let message = error.to_string();
            // The other need not wait until its limit.
            transport.abort(&message);
            tell(&self.news, News::Failed(step, message, None));
        }
    }
}

impl Proof {
    /// All steps; `step` is the one at which an error came. Wrong data is told, and the other steps are tried all the same.
    async fn prove<X: Transport>(&self, transport: &X, step: &mut &'static str) -> Result<()> {
        let pair = Pair::new(transport).await?;
        let wrong = pair.write().await?;
        self.agree(&pair, 1, WRITE, wrong, "8 B, 4 KiB and 64 KiB arrive whole, both ways").await?;
        *step = GET;
        let wrong = pair.get().await?;
        self.agree(&pair, 2, GET, wrong, "64 KiB are read from the other, both ways").await?;
        *step = ATOMIC;
        let wrong = pair.atomic().await?;
        self.agree(&pair, 3, ATOMIC, wrong, "both add to one word, here and there, and nothing is lost")
            .await?;
        *step = LATENCY;
        let lap = pair.laps().await?;
        tell(
            &self.news,
            News::Well(LATENCY, format!("8 B there and back take {lap:.1} us, the mean of {LAPS}")),
        );
        *step = LEAVES;
        transport.finalize().await?;
        tell(&self.news, News::Well(LEAVES, "both leave in good order".to_owned()));
        Ok(())
    }

    /// Exchanges what came of a step, since each PE sees only what arrives at itself, and tells it.
    async fn agree<X: Transport>(
        &self,
        pair: &Pair<'_, X>,
        number: u64,
        step: &'static str,
        wrong: Option<String>,
        well: &str,
    ) -> Result<()> {
        let (there, all_well) = (2 * number, 2 * number + 1);
        let mine = if wrong.is_some() { there } else { all_well };
        pair.signal(VERDICT, mine)?;
        let theirs = pair.wait(VERDICT, there).await?;
        let news = match wrong {
            Some(wrong) => News::Failed(step, wrong, None),
            None if theirs < all_well => {
                News::Failed(step, "wrong on the other host, right here".to_owned(), None)
            }
            None => News::Well(step, well.to_owned()),
        };
        tell(&self.news, news);
        pair.pe.barrier_all().await
    }
}

#[cfg(test)]
#[cfg(feature = "loopback")]
mod tests {
    use super::*;

    /// Two PEs as threads, each with its proof, do `f`; what each tells, in order.
    fn told_by_two(f: impl Fn(Proof, transport_loopback::Loopback) + Send + Sync) -> [Vec<String>; 2] {
        let pes = transport_loopback::Threads::new(2).heap_size(1 << 20).start().unwrap();
        let mut channels = [(); 2].map(|()| std::sync::mpsc::channel());
        let f = &f;
        std::thread::scope(|scope| {
            for (pe, (news, _)) in pes.into_iter().zip(&mut channels) {
                let proof = Proof { news: news.clone(), met: "here".to_owned(), backend: "loopback" };
                scope.spawn(move || f(proof, pe));
            }
        });
        channels.map(|(news, told)| {
            drop(news);
            let show = |news| match news {
                News::Well(step, what) => format!("{step} ok: {what}"),
                News::Failed(step, what, _) => format!("{step} fail: {what}"),
            };
            told.iter().map(show).collect()
        })
    }

    #[test]
    fn all_steps_go_well_between_two_pes() {
        for told in told_by_two(|proof, pe| proof.run(pe)) {
            let steps: Vec<&str> = told.iter().map(|line| line.split(':').next().unwrap()).collect();
            let all = [MEETS, FITS, WRITE, GET, ATOMIC, LATENCY, LEAVES].map(|step| format!("{step} ok"));
            assert_eq!(steps, all, "{told:?}");
        }
    }

    #[test]
    fn what_is_wrong_on_one_is_a_failure_on_both_and_the_next_step_is_tried() {
        let told = told_by_two(|proof, pe| {
            wait::block_on(async {
                let pair = Pair::new(&pe).await.unwrap();
                let wrong = (pe.my_pe() == 0).then(|| "byte 3".to_owned());
                proof.agree(&pair, 1, WRITE, wrong, "well").await.unwrap();
                proof.agree(&pair, 2, GET, None, "well").await.unwrap();
            });
        });
        assert_eq!(told[0], ["write fail: byte 3", "get ok: well"]);
        assert_eq!(told[1], ["write fail: wrong on the other host, right here", "get ok: well"]);
    }

    #[test]
    fn a_peer_that_goes_away_is_a_failure_of_the_step_at_hand() {
        let told = told_by_two(|proof, pe| match pe.my_pe() {
            0 => proof.run(pe),
            _ => wait::block_on(async {
                let pair = Pair::new(&pe).await.unwrap();
                pair.write().await.unwrap();
                proof.agree(&pair, 1, WRITE, None, "well").await.unwrap();
            }),
        });
        let last = told[0].last().unwrap();
        assert!(last.starts_with("get fail: ") && last.contains("PE 1"), "{told:?}");
    }
}
