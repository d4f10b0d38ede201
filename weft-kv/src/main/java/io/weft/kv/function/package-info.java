// SPDX-License-Identifier: Apache-2.0
/// Functions that run on the servers, where the values are. They read a shard's values of a table,
/// and only their result is sent.
@NullMarked
package io.weft.kv.function;

import org.jspecify.annotations.NullMarked;
