// SPDX-License-Identifier: Apache-2.0
/// Calls of the C library. Any thread.
@NullMarked
package io.weft.tensor.ffm;

import org.jspecify.annotations.NullMarked;
