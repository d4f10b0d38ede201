// SPDX-License-Identifier: Apache-2.0
/// Pools of tensors in memory that a transport has registered, and the checks of memory that users
/// lend to operations.
@NullMarked
package io.weft.memory;

import org.jspecify.annotations.NullMarked;
