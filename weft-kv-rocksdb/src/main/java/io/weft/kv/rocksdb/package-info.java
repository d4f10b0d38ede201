// SPDX-License-Identifier: Apache-2.0
/// Rows on the disk, by RocksDB.
@NullMarked
package io.weft.kv.rocksdb;

import org.jspecify.annotations.NullMarked;
