// SPDX-License-Identifier: Apache-2.0
/// Shards, the threads that own them, and when a pull may be answered.
@NullMarked
package io.weft.kv.server;

import org.jspecify.annotations.NullMarked;
