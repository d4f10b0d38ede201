// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spec;

/// The mapping of a table's keys to shards. Pure. It must be equal on all workers, and servers
/// compare its `text`. A program may implement it.
public interface Slicer {

  /// Returns the shard of a key, 0 to `shards` - 1.
  int shard(long key, int shards);

  /// Returns one line that identifies the mapping. A worker whose text differs is refused.
  String text();

  /// Returns the slicer by the hash of the key, which spreads any keys evenly.
  static Slicer hash() {
    return Hash.HASH;
  }

  /// Returns the slicer that divides the keys from `least` to `most`, both included, into equal
  /// ranges. Neighboring keys share a shard, and an ascending list is cut without a copy. Keys
  /// below belong to the first shard, and keys above to the last. Throws `IllegalArgumentException`
  /// if `most` is less than `least`.
  static Slicer ranges(long least, long most) {
    return new Ranges(least, most);
  }

  /// Returns the slicer of a tensor into parts of `elements` elements, which are assigned to the
  /// shards in turn. Throws `IllegalArgumentException` if the number is not a positive multiple of
  /// `Parts.BLOCK_ELEMENTS` up to 2^28.
  static Parts parts(long elements) {
    return new Parts(elements, "");
  }

  /// A slicer by the hash of the key.
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

  /// A slicer of a tensor into parts.
  ///
  /// @param elements of each part but the last
  /// @param name the name by which the parts are assigned to shards; empty = the tensor's
  record Parts(long elements, String name) implements Slicer {

    /// The unit of a part's length in elements.
    public static final int BLOCK_ELEMENTS = 1024;

    private static final String PREFIX = "parts:";

    /// Throws `IllegalArgumentException` with the invalid value.
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

    /// Returns a copy that places the parts on the shards of the tensor of that name, if that
    /// tensor has parts of the same size. Functions and changes of two tensors need this.
    public Parts coLocatedWith(String tensor) {
      return new Parts(elements, tensor);
    }

    /// Parses a text of `text`. Throws `IllegalArgumentException` for another text.
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

  /// A slicer by equal ranges of keys.
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
      // Unsigned, because the range may contain all keys.
      long width = Long.divideUnsigned(most - least, shards) + 1;
      return (int) Long.divideUnsigned(key - least, width);
    }

    @Override
    public String text() {
      return "ranges:" + least + ":" + most;
    }
  }
}
