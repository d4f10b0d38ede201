// SPDX-License-Identifier: Apache-2.0
/// What a worker sends to shards, and what it waits for.
@NullMarked
package io.weft.kv.worker;

import org.jspecify.annotations.NullMarked;
