//! Element by element: destination = a + b.

use bytemuck::Pod;

use super::{Kernel, KernelContext};
use crate::graph::error::Result;
use crate::graph::operand::{Operand, View};

/// An element that [`vector_add`] adds: integers wrap, floats round as IEEE 754 says.
///
/// Own types may implement it; up to 256 bytes, aligned to at most 64.
pub trait AddElement: Pod {
    /// The sum. Must not panic.
    #[must_use]
    fn add(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl AddElement for $t {
            #[inline]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
        }
    )*};
}

macro_rules! floats {
    ($($t:ty)*) => {$(
        impl AddElement for $t {
            #[inline]
            fn add(self, other: Self) -> Self {
                self + other
            }
        }
    )*};
}

integers!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize);
floats!(f32 f64);

/// The kernel that [`vector_add`] makes.
#[derive(Debug, Clone)]
pub struct VectorAdd<T: AddElement> {
    dst: Operand<T>,
    a: Operand<T>,
    b: Operand<T>,
}

/// A kernel for `dst[i] = a[i] + b[i]`, of any equal length, 0 included.
///
/// `dst` may be `a` or `b`, or both; else it must not overlap them. Lengths and overlaps are checked by
/// [`launch_kernel`](crate::graph::Stream::launch_kernel), which answers
/// [`LengthMismatch`](crate::Error::LengthMismatch) or [`Overlap`](crate::Error::Overlap).
pub fn vector_add<T: AddElement>(
    dst: impl Into<Operand<T>>,
    a: impl Into<Operand<T>>,
    b: impl Into<Operand<T>>,
) -> VectorAdd<T> {
    VectorAdd { dst: dst.into(), a: a.into(), b: b.into() }
}

impl<T: AddElement> Kernel for VectorAdd<T> {
    fn name(&self) -> &str {
        "vector_add"
    }

    fn reads(&self) -> Vec<Operand<u8>> {
        vec![self.a.bytes(), self.b.bytes()]
    }

    fn writes(&self) -> Vec<Operand<u8>> {
        vec![self.dst.bytes()]
    }

    fn check(&self, ctx: &KernelContext<'_>) -> Result<()> {
        for source in [&self.a, &self.b] {
            self.dst.refuse_other_length("vector_add", ctx.my_pe(), source)?;
            self.dst.refuse_partial_overlap("vector_add", ctx.my_pe(), source)?;
        }
        Ok(())
    }

    fn run(&self, ctx: &KernelContext<'_>) -> Result<()> {
        let (dst, a, b) = (ctx.open(&self.dst)?, ctx.open(&self.a)?, ctx.open(&self.b)?);
        // A tile is cleared before its first use, which for a few elements would take longer than their sum.
        if dst.is_empty() {
            Ok(())
        } else if self.dst.byte_len() <= 4 * SMALL as u64 {
            add_tiles::<T, SMALL>(dst, a, b)
        } else {
            add_tiles::<T, LARGE>(dst, a, b)
        }
    }
}

const SMALL: usize = 256;
const LARGE: usize = 4096;

/// Private memory to compute in.
#[repr(C, align(64))]
struct Tile<const BYTES: usize>([u8; BYTES]);

impl<const BYTES: usize> Tile<BYTES> {
    fn elements<T: Pod>(&mut self) -> &mut [T] {
        const {
            assert!(
                align_of::<T>() <= 64 && 0 < size_of::<T>() && size_of::<T>() <= BYTES,
                "no element for a tile"
            );
        }
        let whole = BYTES / size_of::<T>() * size_of::<T>();
        bytemuck::cast_slice_mut(&mut self.0[..whole])
    }
}

fn add_tiles<T: AddElement, const BYTES: usize>(
    dst: View<'_, T>,
    a: View<'_, T>,
    b: View<'_, T>,
) -> Result<()> {
    let (mut tile_a, mut tile_b) = (Tile::<BYTES>([0; BYTES]), Tile::<BYTES>([0; BYTES]));
    let (tile_a, tile_b) = (tile_a.elements::<T>(), tile_b.elements::<T>());
    let mut at = 0;
    while at < dst.len() {
        let step = tile_a.len().min(dst.len() - at);
        let (sum, other) = (&mut tile_a[..step], &mut tile_b[..step]);
        a.read(at, sum)?;
        b.read(at, other)?;
        for (x, y) in sum.iter_mut().zip(&*other) {
            *x = x.add(*y);
        }
        dst.write(at, sum)?;
        at += step;
    }
    Ok(())
}
