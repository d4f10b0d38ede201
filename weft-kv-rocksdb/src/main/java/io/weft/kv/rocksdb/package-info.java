// SPDX-License-Identifier: Apache-2.0
/// Stores of rows on disk with RocksDB.
@NullMarked
package io.weft.kv.rocksdb;

import org.jspecify.annotations.NullMarked;
