// SPDX-License-Identifier: Apache-2.0
/// The rank program of `weft perf` that measures one collective through the public interface. The
/// main thread of each rank calls and waits. It is the only thread here.
///
/// All peer programs run the same iteration and print the same report (see `openmpi.c` among the
/// resources). A rank rewrites its input, passes an untimed barrier, runs the timed call and
/// compares the whole result. The time of an iteration is that of its slowest rank.
@NullMarked
package io.weft.perf.rank;

import org.jspecify.annotations.NullMarked;
