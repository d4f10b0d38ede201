// SPDX-License-Identifier: Apache-2.0
/// The files of checkpoints: blocks with checksums, one file for each table and shard, and a
/// manifest for all of them (docs/protocol/kv-checkpoint.md).
@NullMarked
package io.weft.kv.checkpoint;

import org.jspecify.annotations.NullMarked;
