//! The list of cases: the one place where they are named.

use std::future::Future;
use std::pin::Pin;

use super::cases as case_files;
use super::job::Job;
use crate::error::Result;
use crate::transport::Transport;

/// A case on its way. Boxed: there is one for each case, not for each operation.
type Running<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

/// One case.
pub(super) struct Case<X> {
    pub(super) name: &'static str,
    /// Below so many PEs there is nothing to see.
    pub(super) min_pes: usize,
    /// It starts threads.
    pub(super) threads: bool,
    pub(super) end: End,
    pub(super) run: for<'a> fn(&'a Job<'a, X>) -> Running<'a>,
}

/// What a case ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    OfCase,
    OfJob,
}

/// Calls another macro with its arguments and all cases: file, name, what is special.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_cases {
    ([$($callback:tt)+] $($args:tt)*) => {
        $($callback)+! { [$($args)*]
            put put_every_size [];
            put put_many_in_flight [];
            put put_is_written_once [];
            put put_source_is_free_after_quiet [];
            put put_to_self [];
            put_bytes put_bytes_every_size [];
            put_bytes put_bytes_is_kept [];
            get get_every_size [];
            get get_many_in_flight [];
            get get_to_self [];
            order fence_orders_puts [];
            order fence_orders_atomics [];
            order fence_in_a_stream [];
            order quiet_orders_puts [];
            signal put_signal_after_its_data [];
            signal put_signal_adds [];
            signal put_signal_without_data [];
            signal put_signal_after_fence [];
            signal put_signal_round_the_ring [];
            signal_wait signal_wait_every_cmp [];
            signal_wait signal_wait_sees_plain_puts [];
            signal_wait signal_wait_ends_at_the_deadline [];
            atomics atomic_every_op [];
            atomics atomic_totals_are_exact [];
            atomics atomic_compare_swap_counts [];
            atomics atomic_bits_of_every_pe [];
            atomics atomic_against_signals [];
            barrier barrier_waits_for_all [];
            barrier barrier_is_quiet [];
            barrier barrier_many_rounds [];
            barrier barrier_of_several_callers [];
            barrier barrier_names_who_is_missing [min_pes: 2];
            cancel cancelled_barrier_is_resumed [];
            cancel cancelled_quiet_is_resumed [];
            cancel cancelled_signal_wait_is_resumed [];
            bad_input bad_pe_is_refused [];
            bad_input bad_length_is_refused [];
            bad_input freed_allocation_is_refused [];
            bad_input misaligned_word_is_refused [];
            heap heap_same_offsets_everywhere [];
            heap heap_alignment [];
            heap heap_calloc_is_zero [];
            heap heap_reuse_and_coalescing [];
            heap heap_size_zero [];
            heap heap_statistics [];
            heap_errors heap_full_says_what_there_is [];
            heap_errors heap_bad_alignment [];
            heap_errors heap_asymmetric_sizes [min_pes: 2];
            heap_errors heap_asymmetric_calls [min_pes: 2];
            heap_errors heap_free_of_a_part [];
            heap_errors heap_double_free [];
            all_gather all_gather_every_size [];
            all_gather all_gather_every_type [];
            all_gather all_gather_back_to_back [];
            all_gather all_gather_in_place_back_to_back [];
            all_gather all_gather_bad_input [];
            threads put_from_several_threads [threads: true];
            threads every_call_from_several_threads [threads: true];
            end finalize_ends_the_job [end: End::OfJob];
            end abort_ends_every_wait [min_pes: 2, end: End::OfJob];
        }
    };
}

macro_rules! list {
    ([$X:ident] $($file:ident $name:ident [$($field:ident: $value:expr),*];)*) => {
        vec![$({
            #[allow(unused_mut, reason = "most cases have nothing special")]
            let mut case: Case<$X> = Case {
                name: stringify!($name),
                min_pes: 1,
                threads: false,
                end: End::OfCase,
                run: |job| Box::pin(case_files::$file::$name(job)),
            };
            $(case.$field = $value;)*
            case
        }),*]
    };
}

macro_rules! name_list {
    ([] $($file:ident $name:ident [$($field:ident: $value:expr),*];)*) => { &[$(stringify!($name)),*] };
}

/// All cases, in the order in which they are run.
pub(super) fn cases<X: Transport>() -> Vec<Case<X>> {
    crate::__conformance_cases!([list] X)
}

/// The names of all cases, in the order in which they are run.
#[must_use]
pub fn names() -> &'static [&'static str] {
    crate::__conformance_cases!([name_list])
}
