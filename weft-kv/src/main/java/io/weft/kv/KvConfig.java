// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import io.weft.config.ConfigOption;
import io.weft.config.ConfigOption.Scope;
import io.weft.config.OptionProvider;
import io.weft.config.OptionType;
import java.nio.file.Path;
import java.util.List;

/// The configuration options of parameter servers. Stateless; any thread.
public final class KvConfig implements OptionProvider {

  /// The number of shards of every table.
  public static final ConfigOption<Integer> SHARDS =
      ConfigOption.of(
              "kv-shards",
              OptionType.number(0, 65_536),
              "0",
              "into how many shards the parameter servers cut every table; 0 = one for each of"
                  + " their threads")
          .sameOn(Scope.JOB);

  /// The number of threads of a server.
  public static final ConfigOption<Integer> THREADS =
      ConfigOption.of(
              "kv-threads",
              OptionType.number(1, 1024),
              "1",
              "threads of a parameter server that own its shards and apply updates")
          .sameOn(Scope.JOB);

  /// The memory limit of a server's tables.
  public static final ConfigOption<Long> MEMORY =
      ConfigOption.of(
          "kv-memory",
          OptionType.bytes(1 << 20, 1L << 46),
          "4G",
          "most memory of the tables of a parameter server, and of pushes that wait for those of"
              + " other workers");

  /// The memory limit of a server's pending answers.
  public static final ConfigOption<Long> REPLY_MEMORY =
      ConfigOption.of(
          "kv-reply-memory",
          OptionType.bytes(1 << 16, 1L << 40),
          "256M",
          "most memory of a parameter server's answers on their way; each worker has its share");

  /// The memory limit of a shard's key lists.
  public static final ConfigOption<Long> LIST_MEMORY =
      ConfigOption.of(
          "kv-list-memory",
          OptionType.bytes(1 << 12, 1L << 40),
          "64M",
          "most memory of the lists of keys that a shard keeps for a table, so that they are sent"
              + " once");

  /// The limit of a worker's unanswered bytes at one server.
  public static final ConfigOption<Long> IN_FLIGHT =
      ConfigOption.of(
          "kv-in-flight",
          OptionType.bytes(1 << 12, 1L << 40),
          "32M",
          "most bytes of a worker's requests to one parameter server that are not answered; what is"
              + " beyond waits by priority");

  /// The bytes of a part of a tensor.
  public static final ConfigOption<Long> PARTITION =
      ConfigOption.of(
              "kv-partition-bytes",
              OptionType.bytes(4096, 1 << 30),
              "4M",
              "bytes of the parts into which parameter servers cut dense tensors, rounded down to"
                  + " a multiple of 4K")
          .sameOn(Scope.JOB);

  /// The directory of rows that do not fit into memory.
  public static final ConfigOption<Path> SPILL_DIRECTORY =
      ConfigOption.withoutDefault(
          "kv-spill-directory",
          OptionType.path(),
          "directory on a disk local to the server, for rows of tables that may be larger than"
              + " memory; each server creates a private one there and deletes it when it ends");

  /// The memory for the index and the buffers of rows on disk.
  public static final ConfigOption<Long> SPILL_CACHE =
      ConfigOption.of(
          "kv-spill-cache",
          OptionType.bytes(4 << 20, 1L << 40),
          "64M",
          "memory of a parameter server for blocks, filters and buffers of rows on the disk,"
              + " besides kv-memory");

  /// For `ServiceLoader`.
  public KvConfig() {}

  @Override
  public List<ConfigOption<?>> options() {
    return List.of(
        SHARDS,
        THREADS,
        MEMORY,
        REPLY_MEMORY,
        LIST_MEMORY,
        IN_FLIGHT,
        PARTITION,
        SPILL_DIRECTORY,
        SPILL_CACHE);
  }
}
