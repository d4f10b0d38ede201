// SPDX-License-Identifier: Apache-2.0
/// Collectives over a process set, matched by name. The interface is for user threads; all protocol
/// code runs on the lane's thread.
@NullMarked
package io.weft.collective;

import org.jspecify.annotations.NullMarked;
