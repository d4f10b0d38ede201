// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spec;

/// Which keys get a row, and which rows go. A row that has gone is made anew when its key is used,
/// with initial values. After each push a shard looks at some of its rows, so that all come up in
/// turn and no request waits long.
///
/// @param admission as often a key is pushed until it gets a row, 1 to 255; 1 = at once. What was
///   pushed before is dropped. Counted by hash, so that a key may get one earlier
/// @param unusedPushes rows go that were neither pushed nor pulled in so many pushes of the table
///   to their shard; 0 = none goes by age
/// @param normBelow rows go the L2 norm of whose values is less, where they were not pushed lately;
///   0 = none goes by norm
/// @param memoryBytes that rows of the table on one shard take in memory; the others lie on the
///   server's disk and come back when they are used. 0 = all rows are in memory
/// @param quietPushes a row goes by its norm only when it was not pushed in so many pushes of the
///   table to its shard, so that rows can grow; 0 where none goes by norm
public record Retention(
    int admission, long unusedPushes, double normBelow, long memoryBytes, long quietPushes) {

  private static final long QUIET_PUSHES = 1000;

  /// Every key gets a row, none goes, and all are in memory.
  public static final Retention ALL = new Retention(1, 0, 0, 0, 0);

  /// The least memory that a table with rows on the disk may have on a shard.
  public static final long LEAST_MEMORY_BYTES = 64 << 10;

  /// Throws `IllegalArgumentException` with what is wrong.
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

  /// The same with rows for keys that were pushed so often.
  public Retention admittedAfter(int pushes) {
    return new Retention(pushes, unusedPushes, normBelow, memoryBytes, quietPushes);
  }

  /// The same without rows that were neither pushed nor pulled in so many pushes of the table to
  /// their shard. Pulls are noted in quarters of that time, so that a row may stay a quarter
  /// longer.
  public Retention evictedAfter(long pushes) {
    return new Retention(admission, pushes, normBelow, memoryBytes, quietPushes);
  }

  /// The same without rows whose norm is less and that were not pushed in the last 1,000 pushes of
  /// the table to their shard.
  public Retention evictedBelow(double norm) {
    return evictedBelow(norm, norm == 0 ? 0 : QUIET_PUSHES);
  }

  /// The same without rows whose norm is less and that were not pushed in so many pushes of the
  /// table to their shard, at least 1: a row that is pushed more often can grow.
  public Retention evictedBelow(double norm, long pushes) {
    return new Retention(admission, unusedPushes, norm, memoryBytes, pushes);
  }

  /// The same with rows on the disks of servers, where those of a shard take more memory. Servers
  /// need the setting `kv-spill-directory`, and `weft-kv-rocksdb` on their class path.
  public Retention spilledBeyond(long bytesOfAShard) {
    return new Retention(admission, unusedPushes, normBelow, bytesOfAShard, quietPushes);
  }

  /// Whether rows may lie on the disk.
  public boolean spills() {
    return memoryBytes > 0;
  }

  /// Whether rows go.
  public boolean evicts() {
    return unusedPushes > 0 || normBelow > 0;
  }

  /// Itself as text.
  String text() {
    String inMemory = admission + " " + unusedPushes + " " + normBelow;
    if (normBelow > 0) {
      return inMemory + " " + memoryBytes + " " + quietPushes;
    }
    return spills() ? inMemory + " " + memoryBytes : inMemory;
  }

  /// Reads what `text` has written. Throws `IllegalArgumentException` with what is wrong.
  static Retention parse(String text) {
    String[] words = text.split(" ", -1);
    if (words.length < 3 || words.length > 5) {
      throw new IllegalArgumentException("'" + text + "' says not which rows are kept");
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
