// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rocksdb;

import io.weft.kv.spill.RowStore;
import io.weft.kv.spill.RowStoreException;
import io.weft.kv.spill.RowStores;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.CompressionType;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBufferManager;

/// The databases of one server, one for each table on each shard. They share a cache of blocks,
/// filters and write buffers. Any thread.
final class RocksStores implements RowStores {

  private static final int FILTER_BITS = 10;
  private static final int BLOCK_BYTES = 4096;
  private static final int OPEN_FILES = 256;
  private static final int FILE_BYTES = 64 << 20;

  private final long cacheBytes;
  private final Cache cache;
  private final WriteBufferManager buffers;
  private final BloomFilter filter = new BloomFilter(FILTER_BITS);
  private final AtomicInteger open = new AtomicInteger();

  RocksStores(long cacheBytes) {
    this.cacheBytes = cacheBytes;
    cache = new LRUCache(cacheBytes);
    buffers = new WriteBufferManager(cacheBytes / 2, cache);
  }

  @Override
  public RowStore open(Path directory, int rowBytes) {
    Options options = options();
    try {
      RocksDB rows = RocksDB.open(options, directory.toString());
      open.incrementAndGet();
      return new RocksRowStore(rows, options, directory, rowBytes, open::decrementAndGet);
    } catch (RocksDBException refused) {
      options.close();
      throw new RowStoreException("RocksDB in " + directory + ": " + refused.getMessage(), refused);
    }
  }

  /// Returns options without a write-ahead log, a final flush or compression. The data need not
  /// survive a crash, and float values do not compress well.
  private Options options() {
    return new Options()
        .setCreateIfMissing(true)
        .setErrorIfExists(true)
        .setCompressionType(CompressionType.NO_COMPRESSION)
        .setWriteBufferSize(Math.max(1 << 20, cacheBytes / 4))
        .setWriteBufferManager(buffers)
        .setTargetFileSizeBase(FILE_BYTES)
        .setMaxBackgroundJobs(2)
        .setMaxOpenFiles(OPEN_FILES)
        .setAvoidFlushDuringShutdown(true)
        .setInfoLogLevel(InfoLogLevel.HEADER_LEVEL)
        .setKeepLogFileNum(1)
        .setStatsDumpPeriodSec(0)
        .setTableFormatConfig(
            new BlockBasedTableConfig()
                .setBlockSize(BLOCK_BYTES)
                .setBlockCache(cache)
                .setCacheIndexAndFilterBlocks(true)
                .setPinL0FilterAndIndexBlocksInCache(true)
                .setFilterPolicy(filter));
  }

  @Override
  public void close() {
    if (open.get() > 0) {
      throw new IllegalStateException(open.get() + " stores of RocksDB are open");
    }
    buffers.close();
    cache.close();
    filter.close();
  }
}
