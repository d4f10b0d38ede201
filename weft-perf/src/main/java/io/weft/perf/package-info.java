// SPDX-License-Identifier: Apache-2.0
/// `weft perf` compares Weft with peers in interleaved rounds of one run. Contestants of a
/// collective take turns within a round. The command's thread starts the ranks and waits for them.
/// No measurement runs in this process.
@NullMarked
package io.weft.perf;

import org.jspecify.annotations.NullMarked;
