// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spec;

/// The parts of a dense tensor, with their offsets, lengths and shards. Its values are equal on
/// workers and servers. The name determines the shard of the first part. The next parts are on the
/// next shards, round-robin.
///
/// @param elements number of elements of the tensor
/// @param slicer of the tensor
/// @param first the offset that is added to a part's index to find its shard
public record TensorParts(long elements, Slicer.Parts slicer, long first) {

  private static final int NAME_BITS = 31;

  /// Returns the parts of a tensor. Throws `IllegalArgumentException` if the table is not a tensor
  /// with a slicer from `Slicer.parts`.
  public static TensorParts of(TableSpec spec) {
    if (spec.kind() == TableSpec.Kind.TENSOR && spec.slicer() instanceof Slicer.Parts parts) {
      String name = parts.name().isEmpty() ? spec.name() : parts.name();
      return new TensorParts(spec.width(), parts, TableSpec.id(name) >>> (Long.SIZE - NAME_BITS));
    }
    throw new IllegalArgumentException(
        "table '%s' of kind %s, slicer %s: only a tensor with Slicer.parts has parts"
            .formatted(spec.name(), spec.kind(), spec.slicer().text()));
  }

  /// Returns the number of parts.
  public int count() {
    return (int) ((elements + slicer.elements() - 1) / slicer.elements());
  }

  /// Returns the first element of a part.
  public long begin(int part) {
    return part * slicer.elements();
  }

  /// Returns the number of elements of a part.
  public long elements(int part) {
    return Math.min(slicer.elements(), elements - begin(part));
  }

  /// Returns the shard of a part.
  public int shard(int part, int shards) {
    return slicer.shard(first + part, shards);
  }
}
