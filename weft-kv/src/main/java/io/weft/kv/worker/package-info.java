// SPDX-License-Identifier: Apache-2.0
/// A worker's requests to shards, and its waits for their replies.
@NullMarked
package io.weft.kv.worker;

import org.jspecify.annotations.NullMarked;
