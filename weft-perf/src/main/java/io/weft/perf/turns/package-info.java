// SPDX-License-Identifier: Apache-2.0
/// Contestants that work in turn. `weft perf` listens at a socket for each contestant. The ranks of
/// the contestant, in Java or in C (`perf.h` among the resources), connect to it.
///
/// A rank connects and sends one byte with its contestant's number of ranks. It then receives a
/// byte, works, sends a byte, and repeats this until it closes the connection.
@NullMarked
package io.weft.perf.turns;

import org.jspecify.annotations.NullMarked;
