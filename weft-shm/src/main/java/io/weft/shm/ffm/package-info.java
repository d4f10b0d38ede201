// SPDX-License-Identifier: Apache-2.0
/// Bindings of the C functions that shared memory needs. Thread-safe.
@NullMarked
package io.weft.shm.ffm;

import org.jspecify.annotations.NullMarked;
