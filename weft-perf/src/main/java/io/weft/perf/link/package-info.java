// SPDX-License-Identifier: Apache-2.0
/// The rank program of `weft perf` that measures a transport alone between two processes: half
/// round trips, single and concurrent remote writes and reads, many small messages. It runs no
/// collective and no progress thread. The main thread of each of the two ranks polls its transport
/// and is the only thread here.
@NullMarked
package io.weft.perf.link;

import org.jspecify.annotations.NullMarked;
