// SPDX-License-Identifier: Apache-2.0
/// Measures a step whose tensors come from another task: variables of one process that another one
/// consumes, under Weft or under TensorFlow's own runtime. The command starts the two processes on
/// the caller's thread; each measures on its main thread.
@NullMarked
package io.weft.perf.sendrecv;

import org.jspecify.annotations.NullMarked;
