// SPDX-License-Identifier: Apache-2.0
/// The few functions of the C library that shared memory needs. Any thread.
@NullMarked
package io.weft.shm.ffm;

import org.jspecify.annotations.NullMarked;
