// SPDX-License-Identifier: Apache-2.0
/// Starts the processes of `weft perf sendrecv`, whose work is the tool `weft-sendrecv` of the
/// workloads. Runs on the caller's thread.
@NullMarked
package io.weft.launch.perf.sendrecv;

import org.jspecify.annotations.NullMarked;
