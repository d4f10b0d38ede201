// SPDX-License-Identifier: Apache-2.0
/// The measurement of the order in which the tensors of a step leave: a U-Net whose encoder and
/// decoder are on two tasks, with transfers in the order of need and in the order of readiness. The
/// command starts the two processes on the caller's thread. Each measures on its main thread.
@NullMarked
package io.weft.perf.order;

import org.jspecify.annotations.NullMarked;
