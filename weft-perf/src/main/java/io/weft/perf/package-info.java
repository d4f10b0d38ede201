// SPDX-License-Identifier: Apache-2.0
/// `weft perf`: measures Weft beside named peers in the same run, in interleaved rounds, and
/// collectives by turns within them. The command's thread starts the ranks and waits for them;
/// nothing is measured in this process.
@NullMarked
package io.weft.perf;

import org.jspecify.annotations.NullMarked;
