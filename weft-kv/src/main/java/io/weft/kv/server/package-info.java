// SPDX-License-Identifier: Apache-2.0
/// Shards, the threads that own them, and the rules by which pulls are answered.
@NullMarked
package io.weft.kv.server;

import org.jspecify.annotations.NullMarked;
