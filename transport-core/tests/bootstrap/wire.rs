//! Frames and messages: any bytes do no harm, and what is written is read back.

use std::time::Duration;

use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;
use transport_core::PeList;
use transport_core::bootstrap::frame::{FrameDecoder, MAX_FRAME, encode_frame};
use transport_core::bootstrap::message::{Details, ToClient, ToServer};
use transport_core::bootstrap::{CallKind, JobFault, Property};

/// Cuts `bytes` at these places, feeds the decoder, returns the frames or stops at the first error.
fn decode(bytes: &[u8], cuts: &[usize], bound: usize) -> Result<Vec<Bytes>, Vec<Bytes>> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    let (mut decoder, mut frames) = (FrameDecoder::new(bound), Vec::new());
    for pair in places.windows(2) {
        decoder.push(&bytes[pair[0]..pair[1]]);
        loop {
            match decoder.next_frame() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(_) => return Err(frames),
            }
        }
    }
    Ok(frames)
}

fn call() -> impl Strategy<Value = CallKind> {
    prop_oneof![Just(CallKind::AllGather), Just(CallKind::Barrier), Just(CallKind::Leave)]
}

fn pes() -> impl Strategy<Value = PeList> {
    vec(0..70_000_usize, 0..20).prop_map(|pes| pes.into_iter().collect())
}

fn bytes(max: usize) -> impl Strategy<Value = Bytes> {
    vec(any::<u8>(), 0..max).prop_map(Bytes::from)
}

fn millis() -> impl Strategy<Value = Duration> {
    any::<u32>().prop_map(|ms| Duration::from_millis(ms.into()))
}

fn to_server() -> impl Strategy<Value = ToServer> {
    let texts = (".{0,60}", ".{0,16}", ".{0,16}");
    let details = (any::<usize>(), any::<usize>(), any::<u64>(), millis(), texts).prop_map(
        |(pe, n_pes, heap_size, timeout, (job_id, backend, all_gather))| Details {
            pe,
            n_pes,
            heap_size,
            timeout,
            job_id,
            backend,
            all_gather,
        },
    );
    prop_oneof![
        (any::<u16>(), any::<[u8; 32]>()).prop_map(|(version, nonce)| ToServer::Hello { version, nonce }),
        (details, any::<Option<[u8; 32]>>()).prop_map(|(details, proof)| ToServer::Join { details, proof }),
        (any::<u64>(), call(), bytes(300)).prop_map(|(sequence, call, payload)| ToServer::Contribute {
            sequence,
            call,
            payload
        }),
        ".{0,80}".prop_map(|reason| ToServer::Abort { reason }),
    ]
}

fn fault() -> impl Strategy<Value = JobFault> {
    let property = prop_oneof![
        Just(Property::NPes),
        Just(Property::HeapSize),
        Just(Property::Backend),
        Just(Property::AllGather)
    ];
    prop_oneof![
        (property, pes(), ".{0,20}", pes(), ".{0,20}").prop_map(|(property, odd, theirs, others, ours)| {
            JobFault::Mismatch { property, odd, theirs, others, ours }
        }),
        (any::<usize>(), ".{0,20}", ".{0,20}").prop_map(|(pe, first, second)| JobFault::DuplicatePe {
            pe,
            first,
            second
        }),
        (any::<usize>(), any::<usize>(), ".{0,20}").prop_map(|(pe, n_pes, from)| JobFault::PeOutOfRange {
            pe,
            n_pes,
            from
        }),
        (pes(), millis(), vec(".{0,20}", 0..4)).prop_map(|(missing, after, refused)| JobFault::Missing {
            missing,
            after,
            refused
        }),
        (any::<u64>(), pes(), call(), pes(), call()).prop_map(|(sequence, odd, theirs, others, ours)| {
            JobFault::CallMismatch { sequence, odd, theirs, others, ours }
        }),
        (call(), pes(), millis()).prop_map(|(call, missing, after)| JobFault::CallTimeout {
            call,
            missing,
            after
        }),
        (any::<usize>(), ".{0,20}").prop_map(|(pe, cause)| JobFault::PeerLost { pe, cause }),
        (any::<usize>(), ".{0,20}").prop_map(|(pe, reason)| JobFault::Aborted { pe, reason }),
    ]
}

fn to_client() -> impl Strategy<Value = ToClient> {
    prop_oneof![
        (any::<u16>(), any::<[u8; 32]>(), any::<bool>()).prop_map(|(version, nonce, secret_needed)| {
            ToClient::Challenge { version, nonce, secret_needed }
        }),
        ".{0,80}".prop_map(|reason| ToClient::Refused { reason }),
        (any::<Option<[u8; 32]>>(), millis())
            .prop_map(|(proof, time_left)| ToClient::Accepted { proof, time_left }),
        Just(ToClient::Welcome),
        (any::<u64>(), any::<usize>(), vec(bytes(40), 0..6)).prop_map(|(sequence, first_pe, payloads)| {
            ToClient::Gathered { sequence, first_pe, payloads }
        }),
        any::<u64>().prop_map(|sequence| ToClient::Released { sequence }),
        Just(ToClient::Goodbye),
        (any::<usize>(), ".{0,20}").prop_map(|(pe, cause)| ToClient::Lost { pe, cause }),
        fault().prop_map(ToClient::Failed),
    ]
}

/// A frame's contents.
fn contents(frame: &Bytes) -> Bytes {
    frame.slice(4..)
}

proptest! {
    #[test]
    fn frames_come_back_however_they_are_cut(
        frames in vec(vec(any::<u8>(), 0..200), 0..12),
        cuts in vec(any::<usize>(), 0..40),
    ) {
        let stream: Vec<u8> = frames.iter().flat_map(|frame| encode_frame(frame).unwrap()).collect();
        prop_assert_eq!(decode(&stream, &cuts, MAX_FRAME), Ok(frames.into_iter().map(Bytes::from).collect()));
    }

    #[test]
    fn any_bytes_cut_anyhow_do_no_harm(
        stream in vec(any::<u8>(), 0..600),
        cuts in vec(any::<usize>(), 0..20),
        bound in 0..300_usize,
    ) {
        let whole = decode(&stream, &[], bound);
        prop_assert_eq!(&decode(&stream, &cuts, bound), &whole);
        let (Ok(frames) | Err(frames)) = whole;
        prop_assert!(frames.iter().all(|frame| frame.len() <= bound));
    }

    #[test]
    fn messages_to_pe_0_come_back(message in to_server()) {
        prop_assert_eq!(ToServer::decode(contents(&message.encode().unwrap())), Ok(message));
    }

    #[test]
    fn messages_from_pe_0_come_back(message in to_client()) {
        prop_assert_eq!(ToClient::decode(contents(&message.encode().unwrap())), Ok(message));
    }

    #[test]
    fn any_bytes_are_a_message_or_an_error(mut bytes in vec(any::<u8>(), 0..200), kind in 0..12_u8) {
        drop((ToServer::decode(bytes.clone().into()), ToClient::decode(bytes.clone().into())));
        // Most random first bytes are no kind at all; these reach the fields.
        if let Some(first) = bytes.first_mut() {
            *first = kind;
        }
        drop((ToServer::decode(bytes.clone().into()), ToClient::decode(bytes.into())));
    }

    #[test]
    fn a_spoilt_message_is_another_message_or_an_error(
        message in to_client(),
        at in any::<usize>(),
        with in any::<u8>(),
        cut in any::<usize>(),
    ) {
        let mut bytes = contents(&message.encode().unwrap()).to_vec();
        let at = at % bytes.len();
        bytes[at] = with;
        drop(ToClient::decode(bytes.clone().into()));
        bytes.truncate(cut % (bytes.len() + 1));
        drop(ToClient::decode(bytes.into()));
    }

    #[test]
    fn a_message_cut_short_is_an_error(message in to_server(), cut in any::<usize>()) {
        let bytes = contents(&message.encode().unwrap());
        prop_assert!(ToServer::decode(bytes.slice(..cut % bytes.len())).is_err());
    }
}

#[test]
fn a_frame_that_announces_too_much_is_an_error_at_once() {
    let mut decoder = FrameDecoder::new(100);
    decoder.push(&u32::MAX.to_le_bytes());
    assert!(decoder.next_frame().unwrap_err().to_string().contains("4294967295 bytes"));
    assert!(encode_frame(&vec![0; MAX_FRAME + 1]).is_err());
    assert!(encode_frame(&vec![0; MAX_FRAME]).is_ok());
}
