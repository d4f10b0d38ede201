// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spec;

/// The rules by which keys get rows and rows are evicted. An evicted row is created again, with
/// initial values, when its key is used. After each push a shard checks some of its rows, so that
/// all are checked in turn and no request waits long.
///
/// @param admission how often a key must be pushed before it gets a row, 1 to 255; 1 = at once.
///   Earlier pushes are dropped. Counts are kept by hash of the key; a collision may give a key a
///   row earlier
/// @param unusedPushes the number of pushes of the table to a row's shard after which the row is
///   evicted if it was neither pushed nor pulled during them; 0 = no eviction by age
/// @param normBelow the L2 norm of values below which a row is evicted if it was not pushed
///   recently; 0 = no eviction by norm
/// @param memoryBytes the memory of the table's rows on one shard; the other rows are on the
///   server's disk and are loaded when they are used. 0 = all rows are in memory
/// @param quietPushes a row is evicted by its norm only if it was not pushed in this number of
///   pushes of the table to its shard, so that rows can grow; 0 without eviction by norm
public record Retention(
    int admission, long unusedPushes, double normBelow, long memoryBytes, long quietPushes) {

  private static final long QUIET_PUSHES = 1000;

  /// The retention in which every key gets a row, none is evicted, and all are in memory.
  public static final Retention ALL = new Retention(1, 0, 0, 0, 0);

  /// The minimum memory on a shard of a table with rows on disk.
  public static final long LEAST_MEMORY_BYTES = 64 << 10;

  /// Throws `IllegalArgumentException` with the invalid value.
  public Retention {
    if (admission < 1 || admission > 255) {
      throw new IllegalArgumentException("admission after " + admission + " pushes; 1 to 255");
    }
    if (unusedPushes < 0 || !(normBelow >= 0 && normBelow < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "rows that go after %d pushes or below the norm %s; neither may be negative"
              .formatted(unusedPushes, normBelow));
    }
    if (quietPushes < 0 || (quietPushes == 0) != (normBelow == 0)) {
      throw new IllegalArgumentException(
          "rows that go below the norm %s when they were not pushed in %d pushes; at least 1"
              .formatted(normBelow, quietPushes));
    }
    if (memoryBytes != 0 && memoryBytes < LEAST_MEMORY_BYTES) {
      throw new IllegalArgumentException(
          "rows in %d bytes of memory; at least %d, or 0 where all are in memory"
              .formatted(memoryBytes, LEAST_MEMORY_BYTES));
    }
  }

  /// Returns a copy that admits keys after `pushes` pushes.
  public Retention admittedAfter(int pushes) {
    return new Retention(pushes, unusedPushes, normBelow, memoryBytes, quietPushes);
  }

  /// Returns a copy that evicts rows that were neither pushed nor pulled in `pushes` pushes of the
  /// table to their shard. Pulls are recorded with a resolution of a quarter of that time, so that
  /// a row may stay a quarter longer.
  public Retention evictedAfter(long pushes) {
    return new Retention(admission, pushes, normBelow, memoryBytes, quietPushes);
  }

  /// Returns a copy that evicts rows with a smaller norm that were not pushed in the last 1,000
  /// pushes of the table to their shard.
  public Retention evictedBelow(double norm) {
    return evictedBelow(norm, norm == 0 ? 0 : QUIET_PUSHES);
  }

  /// Returns a copy that evicts rows with a smaller norm that were not pushed in the last `pushes`
  /// pushes, at least 1, of the table to their shard. A row that is pushed more often can grow.
  public Retention evictedBelow(double norm, long pushes) {
    return new Retention(admission, unusedPushes, norm, memoryBytes, pushes);
  }

  /// Returns a copy that moves a shard's rows beyond this memory to the server's disk. Servers need
  /// the setting `kv-spill-directory`, and `weft-kv-rocksdb` on their class path.
  public Retention spilledBeyond(long bytesOfAShard) {
    return new Retention(admission, unusedPushes, normBelow, bytesOfAShard, quietPushes);
  }

  /// Returns whether rows may be on disk.
  public boolean spills() {
    return memoryBytes > 0;
  }

  /// Returns whether rows may be evicted.
  public boolean evicts() {
    return unusedPushes > 0 || normBelow > 0;
  }

  /// Returns the text that `parse` reads.
  String text() {
    String inMemory = admission + " " + unusedPushes + " " + normBelow;
    if (normBelow > 0) {
      return inMemory + " " + memoryBytes + " " + quietPushes;
    }
    return spills() ? inMemory + " " + memoryBytes : inMemory;
  }

  /// Parses a text of `text`. Throws `IllegalArgumentException` if it is invalid.
  static Retention parse(String text) {
    String[] words = text.split(" ", -1);
    if (words.length < 3 || words.length > 5) {
      throw new IllegalArgumentException("'" + text + "' is not a retention");
    }
    double norm = Double.parseDouble(words[2]);
    return new Retention(
        Integer.parseInt(words[0]),
        Long.parseLong(words[1]),
        norm,
        words.length == 3 ? 0 : Long.parseLong(words[3]),
        words.length == 5 ? Long.parseLong(words[4]) : norm == 0 ? 0 : QUIET_PUSHES);
  }
}
