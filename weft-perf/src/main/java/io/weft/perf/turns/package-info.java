// SPDX-License-Identifier: Apache-2.0
/// Contestants that work by turns while the others wait: one side of a socket is `weft perf`, the
/// other each rank, in Java or in C (`perf.h` beside the resources).
///
/// A rank connects and says how many ranks its contestant has, in one byte. It then waits for a
/// byte, works, says a byte, and so on until it closes.
@NullMarked
package io.weft.perf.turns;

import org.jspecify.annotations.NullMarked;
