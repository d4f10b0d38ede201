// SPDX-License-Identifier: Apache-2.0
/// Registered memory, pooled. Any thread.
@NullMarked
package io.weft.transport.pool;

import org.jspecify.annotations.NullMarked;
