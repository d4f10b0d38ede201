// SPDX-License-Identifier: Apache-2.0
/// Programs that this process starts: how they are found, started, heard and outlived by none of
/// theirs. Reads and writes of pipes block in the system, where a virtual thread would keep the
/// thread that carries it: all of them happen on threads of the platform.
@NullMarked
package io.weft.launch.process;

import org.jspecify.annotations.NullMarked;
