// SPDX-License-Identifier: Apache-2.0
/// `weft perf wide-deep-traffic`: the traffic between many light workers in one process and
/// parameter servers in separate processes during the steps of a wide-and-deep model. The command
/// runs on the caller's thread. In a rank, the protocol runs in callbacks on the progress thread. A
/// timer's pause takes the place of a worker's computation.
@NullMarked
package io.weft.perf.traffic;

import org.jspecify.annotations.NullMarked;
