// SPDX-License-Identifier: Apache-2.0
/// Devices and their resources as objects. Each resource has owners and is closed with them, after
/// its dependents. Creating, changing and closing are thread-safe. Only one thread may post to a
/// queue pair or poll a completion queue.
@NullMarked
package io.weft.verbs.device;

import org.jspecify.annotations.NullMarked;
