//! How many arguments each exported function takes, and the size of each and of what it returns.

use std::mem::size_of;

use ibverbs_sys as c;

#[path = "../../src/abi/structs.rs"]
mod structs;
#[allow(dead_code, reason = "only the types are compared")]
#[path = "../../src/abi/symbols.rs"]
mod symbols;

/// Sizes of a function's result and arguments; all pointers have one.
trait Signature {
    fn sizes() -> Vec<usize>;
}

macro_rules! signatures {
    ($(($($arg:ident)*))+) => {
        $(impl<R, $($arg),*> Signature for unsafe extern "C" fn($($arg),*) -> R {
            fn sizes() -> Vec<usize> {
                vec![size_of::<R>() $(, size_of::<$arg>())*]
            }
        })+
    };
}
signatures! { (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) }

impl<T: Signature> Signature for Option<T> {
    fn sizes() -> Vec<usize> {
        T::sizes()
    }
}

fn sizes<T: Signature>(_: T) -> Vec<usize> {
    T::sizes()
}

/// Compares each function; the pattern names every field, so that one that is added does not compile without.
macro_rules! same {
    ($($name:ident($($arg:ty),*)),+ $(,)?) => {
        #[test]
        fn every_function_is_called_as_in_the_header() {
            fn ours(symbols::Symbols { $($name),+ }: symbols::Symbols) -> Vec<(&'static str, Vec<usize>)> {
                vec![$((stringify!($name), sizes($name))),+]
            }
            let theirs = [$((stringify!($name), {
                let function: unsafe extern "C" fn($($arg),*) -> _ = c::$name;
                sizes(function)
            })),+];
            let symbols = symbols::Symbols::load(symbols::SONAME).expect("libibverbs is installed with its headers");
            assert_eq!(ours(symbols), theirs);
        }
    };
}

same! {
    ibv_get_device_list(_),
    ibv_free_device_list(_),
    ibv_get_device_name(_),
    ibv_get_device_guid(_),
    ibv_open_device(_),
    ibv_close_device(_),
    ibv_query_device(_, _),
    ibv_query_port(_, _, _),
    ibv_query_gid(_, _, _, _),
    ibv_alloc_pd(_),
    ibv_dealloc_pd(_),
    ibv_reg_mr(_, _, _, _),
    ibv_dereg_mr(_),
    ibv_create_comp_channel(_),
    ibv_destroy_comp_channel(_),
    ibv_create_cq(_, _, _, _, _),
    ibv_destroy_cq(_),
    ibv_get_cq_event(_, _, _),
    ibv_ack_cq_events(_, _),
    ibv_create_qp(_, _),
    ibv_modify_qp(_, _, _),
    ibv_query_qp(_, _, _, _),
    ibv_destroy_qp(_),
    _ibv_query_gid_ex(_, _, _, _, _, _),
}
