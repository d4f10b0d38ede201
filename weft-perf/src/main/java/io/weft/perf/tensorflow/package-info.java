// SPDX-License-Identifier: Apache-2.0
/// TensorFlow's own distributed runtime over gRPC, from Java, as a comparison for Weft. Its servers
/// run on threads of TensorFlow, its sessions on the caller's thread.
@NullMarked
package io.weft.perf.tensorflow;

import org.jspecify.annotations.NullMarked;
