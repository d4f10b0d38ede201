// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spec;

/// How the keys of a table are spread over shards. Pure; the same on all workers, which `text` is
/// compared for. A program may have its own.
public interface Slicer {

  /// The shard of a key, 0 to `shards` - 1.
  int shard(long key, int shards);

  /// What tells it from others, one line: ranks that differ in it are refused.
  String text();

  /// By the hash of the key: spreads any keys evenly.
  static Slicer hash() {
    return Hash.HASH;
  }

  /// Equal ranges of the keys from `least` to `most`, both included: neighbours share a shard, and
  /// an ascending list is cut without a copy. Keys outside belong to the first and the last shard.
  /// Throws `IllegalArgumentException` if `most` is less than `least`.
  static Slicer ranges(long least, long most) {
    return new Ranges(least, most);
  }

  /// Of a tensor: parts of so many elements, one behind the other on the shards. Throws
  /// `IllegalArgumentException` for a number that is no multiple of `Parts.BLOCK_ELEMENTS`.
  static Parts parts(long elements) {
    return new Parts(elements, "");
  }

  /// One of a kind.
  enum Hash implements Slicer {
    /// The finalizer of SplitMix64 [STEELE14 §3.1].
    HASH;

    @Override
    public int shard(long key, int shards) {
      long mixed = mix(key);
      return (int) Math.unsignedMultiplyHigh(mixed, shards);
    }

    @Override
    public String text() {
      return "hash";
    }

    private static long mix(long key) {
      long z = key + 0x9e3779b97f4a7c15L;
      z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
      z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
      return z ^ (z >>> 31);
    }
  }

  /// Parts of a tensor.
  ///
  /// @param elements of each but the last
  /// @param name by which they are spread over the shards; empty = the tensor's
  record Parts(long elements, String name) implements Slicer {

    /// What the elements of a part are a multiple of.
    public static final int BLOCK_ELEMENTS = 1024;

    private static final String PREFIX = "parts:";

    /// Throws `IllegalArgumentException` with what is wrong.
    public Parts {
      if (elements < BLOCK_ELEMENTS || elements % BLOCK_ELEMENTS != 0 || elements > 1 << 28) {
        throw new IllegalArgumentException(
            "parts of "
                + elements
                + " elements; allowed: multiples of "
                + BLOCK_ELEMENTS
                + " up to "
                + (1 << 28));
      }
    }

    /// The same, on the shards where the tensor of that name has its parts, if it is cut alike:
    /// what functions and changes of two tensors need.
    public Parts beside(String tensor) {
      return new Parts(elements, tensor);
    }

    /// Reads what `text` has written; throws `IllegalArgumentException` for another text.
    static Parts parse(String text) {
      if (!text.startsWith(PREFIX)) {
        throw new IllegalArgumentException(
            "a tensor with the slicer '" + text + "', which does not cut it into parts");
      }
      String rest = text.substring(PREFIX.length());
      int at = rest.indexOf('@');
      return at < 0
          ? new Parts(Long.parseLong(rest), "")
          : new Parts(Long.parseLong(rest.substring(0, at)), rest.substring(at + 1));
    }

    @Override
    public int shard(long key, int shards) {
      return (int) Long.remainderUnsigned(key, shards);
    }

    @Override
    public String text() {
      return PREFIX + elements + (name.isEmpty() ? "" : "@" + name);
    }
  }

  /// Equal ranges.
  ///
  /// @param least the lowest key
  /// @param most the highest key
  record Ranges(long least, long most) implements Slicer {

    /// Throws `IllegalArgumentException` for an empty range.
    public Ranges {
      if (most < least) {
        throw new IllegalArgumentException(
            "ranges of keys from " + least + " to " + most + ": the last is below the first");
      }
    }

    @Override
    public int shard(long key, int shards) {
      if (key <= least) {
        return 0;
      }
      if (key >= most) {
        return shards - 1;
      }
      // Unsigned: the range may be all keys there are.
      long width = Long.divideUnsigned(most - least, shards) + 1;
      return (int) Long.divideUnsigned(key - least, width);
    }

    @Override
    public String text() {
      return "ranges:" + least + ":" + most;
    }
  }
}
