// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spec;

/// Which keys get a row, and which rows go. A row that has gone is made anew when its key is used,
/// with initial values. After each push a shard looks at some of its rows, so that all come up in
/// turn and no request waits long.
///
/// @param admission as often a key is pushed until it gets a row, 1 to 255; 1 = at once. What was
///   pushed before is dropped. Counted by hash, so that a key may get one earlier
/// @param unusedPushes rows go that were not used in so many pushes of the table to their shard; 0
///   = none goes by age
/// @param normBelow rows go the L2 norm of whose values is less; 0 = none goes by norm
/// @param memoryBytes that rows of the table on one shard take in memory; the others lie on the
///   server's disk and come back when they are used. 0 = all rows are in memory
public record Retention(int admission, long unusedPushes, double normBelow, long memoryBytes) {

  /// Every key gets a row, none goes, and all are in memory.
  public static final Retention ALL = new Retention(1, 0, 0, 0);

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
    if (memoryBytes != 0 && memoryBytes < LEAST_MEMORY_BYTES) {
      throw new IllegalArgumentException(
          "rows in %d bytes of memory; at least %d, or 0 where all are in memory"
              .formatted(memoryBytes, LEAST_MEMORY_BYTES));
    }
  }

  /// The same with rows for keys that were pushed so often.
  public Retention admittedAfter(int pushes) {
    return new Retention(pushes, unusedPushes, normBelow, memoryBytes);
  }

  /// The same without rows that were not used in so many pushes.
  public Retention evictedAfter(long pushes) {
    return new Retention(admission, pushes, normBelow, memoryBytes);
  }

  /// The same without rows whose norm is less.
  public Retention evictedBelow(double norm) {
    return new Retention(admission, unusedPushes, norm, memoryBytes);
  }

  /// The same with rows on the disks of servers, where those of a shard take more memory. Servers
  /// need the setting `kv-spill-directory`, and `weft-kv-rocksdb` on their class path.
  public Retention spilledBeyond(long bytesOfAShard) {
    return new Retention(admission, unusedPushes, normBelow, bytesOfAShard);
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
    return spills() ? inMemory + " " + memoryBytes : inMemory;
  }

  /// Reads what `text` has written. Throws `IllegalArgumentException` with what is wrong.
  static Retention parse(String text) {
    String[] words = text.split(" ", -1);
    if (words.length != 3 && words.length != 4) {
      throw new IllegalArgumentException("'" + text + "' says not which rows are kept");
    }
    return new Retention(
        Integer.parseInt(words[0]),
        Long.parseLong(words[1]),
        Double.parseDouble(words[2]),
        words.length == 3 ? 0 : Long.parseLong(words[3]));
  }
}
