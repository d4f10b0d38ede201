// SPDX-License-Identifier: Apache-2.0
/// Kernels that combine two runs of elements, on vectors or on heap tiles. Stateless; any thread.
///
/// ## Order of operations
///
/// A kernel combines element `i` of one run with element `i` of the other, once, and nothing else:
/// elements never meet their neighbours, there are no partial sums inside a kernel, and no step is
/// fused with the next. So the order in which the contributions to one element are combined is the
/// order of the steps in the algorithm's schedule, whatever the width of the machine's vectors, the
/// alignment of the memory, or the places where a tensor is cut into segments.
///
/// ## Bits
///
/// All kernels give the bits of `Kernels.reference`, on every input:
///
/// - FLOAT32 and FLOAT64 round to nearest even after each combination; subnormals are kept.
/// - FLOAT16 and BFLOAT16 are widened to binary32, combined there, and rounded to nearest even
///   after each combination, overflow going to infinity.
/// - MIN and MAX order -0 below +0, and a NaN wins over every number.
/// - A result that is NaN has the bits of the type's one canonical NaN: positive, quiet, no payload
///   (0x7e00, 0x7fc0, 0x7fc00000, 0x7ff8000000000000).
/// - Integers wrap; UINT8 compares without sign.
///
/// It follows that `a op b` has the bits of `b op a`, so two ranks that exchange their values and
/// both combine them hold the same result.
@NullMarked
package io.weft.tensor.kernel;

import org.jspecify.annotations.NullMarked;
