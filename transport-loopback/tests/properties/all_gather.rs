//! AllGather against its definition.

use proptest::prelude::*;
use transport_core::collectives::{AllGatherAlgorithm, all_gather, all_gather_in_place};
use transport_core::{Error, SymSlice, Transport};
use transport_loopback::Loopback;

use crate::{Verdict, config, end, on_pes};

const LONGEST: usize = 700;

#[derive(Debug, Clone, Copy)]
enum Element {
    U8,
    U16,
    U32,
    U64,
    I32,
    F64,
}

impl Element {
    fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::U32 | Self::I32 => 4,
            Self::U64 | Self::F64 => 8,
        }
    }
}

#[derive(Debug, Clone)]
struct Call {
    element: Element,
    len: usize,
    in_place: bool,
    algorithm: AllGatherAlgorithm,
    value: u8,
}

fn call() -> impl Strategy<Value = Call> {
    use Element::*;
    let element = prop::sample::select(vec![U8, U16, U32, U64, I32, F64]);
    let len = prop_oneof![3 => 0..40_usize, 1 => 0..LONGEST];
    let algorithm = prop::sample::select(AllGatherAlgorithm::ALL.map(|(algorithm, _)| algorithm).to_vec());
    (element, len, any::<bool>(), algorithm, any::<u8>()).prop_map(
        |(element, len, in_place, algorithm, value)| Call { element, len, in_place, algorithm, value },
    )
}

/// Byte `at` of what PE `pe` contributes.
fn byte(call: &Call, pe: usize, at: usize) -> u8 {
    call.value.wrapping_add((pe * 101) as u8).wrapping_add((at * 7) as u8)
}

/// The call itself, in elements of its type.
async fn gather(pe: &Loopback, dst: SymSlice<u8>, src: SymSlice<u8>, call: &Call) -> Result<(), Error> {
    macro_rules! of {
        ($($element:ident $type:ty),*) => {
            match (call.element, call.in_place) {
                $(
                    (Element::$element, true) => all_gather_in_place(pe, dst.cast::<$type>()?, call.algorithm).await,
                    (Element::$element, false) => {
                        all_gather(pe, dst.cast::<$type>()?, src.cast()?, call.algorithm).await
                    }
                )*
            }
        };
    }
    of!(U8 u8, U16 u16, U32 u32, U64 u64, I32 i32, F64 f64)
}

async fn check(pe: &Loopback, dst: SymSlice<u8>, src: SymSlice<u8>, call: &Call) -> Result<Verdict, Error> {
    let bytes = call.len * call.element.bytes();
    let (dst, src) = (dst.slice(..pe.n_pes() * bytes)?, src.slice(..bytes)?);
    let mine: Vec<u8> = (0..bytes).map(|at| byte(call, pe.my_pe(), at)).collect();
    pe.heap().write(if call.in_place { dst.part(pe.my_pe(), pe.n_pes())? } else { src }, &mine)?;
    gather(pe, dst, src, call).await?;
    // The source may be used again at once.
    pe.heap().fill(src, 0)?;
    let expected: Vec<u8> =
        (0..pe.n_pes()).flat_map(|pe| (0..bytes).map(move |at| byte(call, pe, at))).collect();
    let same = pe.heap().read_vec(dst)? == expected;
    Ok(if same { Ok(()) } else { Err(format!("PE {}: {call:?} is not what was to be gathered", pe.my_pe())) })
}

/// One call after the other into the same buffers, with no barrier between.
async fn run(pe: Loopback, calls: &[Call]) -> Result<Verdict, Error> {
    let (src, dst) = (pe.alloc::<u8>(8 * LONGEST).await?, pe.alloc::<u8>(pe.n_pes() * 8 * LONGEST).await?);
    for call in calls {
        let verdict = check(&pe, dst, src, call).await?;
        if verdict.is_err() {
            return Ok(verdict);
        }
    }
    end(pe).await
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn all_gathers_in_a_row_are_as_defined(
        n in 1..=8_usize,
        calls in prop::collection::vec(call(), 1..12),
    ) {
        let verdict = on_pes(n, |pe| run(pe, &calls));
        prop_assert!(verdict.is_ok(), "{}", verdict.unwrap_err());
    }
}
