// SPDX-License-Identifier: Apache-2.0
/// The rank program of `weft perf` for what a transport alone does between two processes: half
/// round trips, remote writes and reads, one or many at once, many small messages. No collective
/// runs and no progress thread: the main thread of each of the two ranks polls its transport; it is
/// the only thread here.
@NullMarked
package io.weft.perf.link;

import org.jspecify.annotations.NullMarked;
