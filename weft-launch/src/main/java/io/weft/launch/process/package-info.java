// SPDX-License-Identifier: Apache-2.0
/// Finds, starts, reads and ends the programs that this process starts. Reads and writes of pipes
/// block in the system, where a virtual thread would block its carrier thread. All of them
/// therefore run on platform threads.
@NullMarked
package io.weft.launch.process;

import org.jspecify.annotations.NullMarked;
