// SPDX-License-Identifier: Apache-2.0
/// Tensors in memory that a transport has registered: pools, and what of the user's memory may be
/// written.
@NullMarked
package io.weft.memory;

import org.jspecify.annotations.NullMarked;
