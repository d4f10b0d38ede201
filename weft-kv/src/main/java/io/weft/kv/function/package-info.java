// SPDX-License-Identifier: Apache-2.0
/// Functions that run at the servers, where values are: they read what a shard has of a table, and
/// only their result travels.
@NullMarked
package io.weft.kv.function;

import org.jspecify.annotations.NullMarked;
