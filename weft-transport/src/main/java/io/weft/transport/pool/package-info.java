// SPDX-License-Identifier: Apache-2.0
/// Pools of registered memory. Thread-safe.
@NullMarked
package io.weft.transport.pool;

import org.jspecify.annotations.NullMarked;
