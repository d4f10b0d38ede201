// SPDX-License-Identifier: Apache-2.0
/// Files of checkpoints: blocks with checksums, one file for each table and shard, and the manifest
/// that makes them one (docs/protocol/kv-checkpoint.md).
@NullMarked
package io.weft.kv.checkpoint;

import org.jspecify.annotations.NullMarked;
