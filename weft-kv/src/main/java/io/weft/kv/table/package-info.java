// SPDX-License-Identifier: Apache-2.0
/// The content of a shard: rows by 64-bit keys, and parts of tensors. One thread, no locks.
@NullMarked
package io.weft.kv.table;

import org.jspecify.annotations.NullMarked;
