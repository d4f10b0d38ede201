// SPDX-License-Identifier: Apache-2.0
/// Lists of keys, cut by shard, and the digest that identifies a list.
@NullMarked
package io.weft.kv.key;

import org.jspecify.annotations.NullMarked;
