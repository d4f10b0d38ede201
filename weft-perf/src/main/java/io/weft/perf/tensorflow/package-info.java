// SPDX-License-Identifier: Apache-2.0
/// TensorFlow's own distributed runtime, over gRPC, from Java: what Weft is compared with. Its
/// servers run on threads of TensorFlow; sessions, on the caller's.
@NullMarked
package io.weft.perf.tensorflow;

import org.jspecify.annotations.NullMarked;
