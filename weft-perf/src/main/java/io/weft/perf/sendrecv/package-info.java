// SPDX-License-Identifier: Apache-2.0
/// The measurement of a step whose tensors come from another task. A process consumes variables of
/// another process, under Weft or under TensorFlow's own runtime. The command starts the two
/// processes on the caller's thread. Each measures on its main thread.
@NullMarked
package io.weft.perf.sendrecv;

import org.jspecify.annotations.NullMarked;
