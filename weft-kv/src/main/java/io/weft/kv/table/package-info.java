// SPDX-License-Identifier: Apache-2.0
/// What a shard keeps: rows by 64-bit keys, and parts of tensors. One thread, no locks.
@NullMarked
package io.weft.kv.table;

import org.jspecify.annotations.NullMarked;
