// SPDX-License-Identifier: Apache-2.0
/// `weft perf wide-deep-traffic`: what a wide-and-deep model's steps ask of parameter servers, from
/// many light workers in one process against servers in processes of their own. The command runs on
/// the caller's thread; in a rank, all protocol runs in callbacks on the progress thread, and what
/// a worker computes is a pause of a timer.
@NullMarked
package io.weft.perf.traffic;

import org.jspecify.annotations.NullMarked;
