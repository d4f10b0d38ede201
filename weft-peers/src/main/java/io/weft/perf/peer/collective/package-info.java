// SPDX-License-Identifier: Apache-2.0
/// Peers of `weft perf allreduce`: collectives of other libraries for Java, in one JVM per rank.
/// `CollectiveLibrary` is a library, `CollectiveProgram` the program of each rank.
@NullMarked
package io.weft.perf.peer.collective;

import org.jspecify.annotations.NullMarked;
