// SPDX-License-Identifier: Apache-2.0
/// The rank program of `weft perf`: one collective, measured through the public interface. The main
/// thread of each rank calls and waits; it is the only thread here.
///
/// What an iteration is, and what is printed, is the same for every peer (see `openmpi.c` beside
/// the resources): rewrite the input, untimed barrier, timed call, compare the whole result. An
/// iteration takes as long as its slowest rank.
@NullMarked
package io.weft.perf.rank;

import org.jspecify.annotations.NullMarked;
