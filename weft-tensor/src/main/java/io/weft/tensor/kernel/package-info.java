// SPDX-License-Identifier: Apache-2.0
/// Kernels that combine two runs of elements, on vectors or on heap tiles. Stateless; any thread.
///
/// ## Order of operations
///
/// A kernel combines element `i` of one run with element `i` of the other exactly once. It never
/// combines neighbouring elements, forms no partial sums and fuses no operations. The contributions
/// to an element are therefore combined in the order of the algorithm's schedule, independent of
/// the vector width of the machine, the alignment of the memory, and the segment boundaries of a
/// tensor.
///
/// ## Bits
///
/// All kernels produce the bits of `Kernels.reference` on every input:
///
/// - FLOAT32 and FLOAT64 round to nearest even after each combination; subnormals are kept.
/// - FLOAT16 and BFLOAT16 are widened to binary32, combined, and rounded to nearest even after each
///   combination; overflow becomes infinity.
/// - MIN and MAX order -0 below +0, and return a NaN if either operand is NaN.
/// - A NaN result has the bits of the type's one canonical NaN: positive, quiet, no payload
///   (0x7e00, 0x7fc0, 0x7fc00000, 0x7ff8000000000000).
/// - Integers wrap; UINT8 compares as unsigned.
///
/// Consequently `a op b` has the bits of `b op a`, so two ranks that exchange their values and both
/// combine them hold identical results.
@NullMarked
package io.weft.tensor.kernel;

import org.jspecify.annotations.NullMarked;
