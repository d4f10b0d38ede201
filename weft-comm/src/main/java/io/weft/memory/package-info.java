// SPDX-License-Identifier: Apache-2.0
/// Tensors in memory that a transport has registered, and how other ranks' memory is stored to.
@NullMarked
package io.weft.memory;

import org.jspecify.annotations.NullMarked;
