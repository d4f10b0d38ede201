// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spec;

/// The parts of a dense tensor: where each begins, how long it is, which shard has it. Pure; the
/// same on workers and servers. Tensors of one part are spread by their name, the parts of a longer
/// one go round the shards from there.
///
/// @param elements of the tensor
/// @param slicer how it is cut
/// @param first what the parts are counted from when they are put into shards
public record TensorParts(long elements, Slicer.Parts slicer, long first) {

  private static final int NAME_BITS = 31;

  /// Of a tensor. Throws `IllegalArgumentException` if it has no `Slicer.parts`.
  public static TensorParts of(TableSpec spec) {
    if (spec.kind() == TableSpec.Kind.TENSOR && spec.slicer() instanceof Slicer.Parts parts) {
      String name = parts.name().isEmpty() ? spec.name() : parts.name();
      return new TensorParts(spec.width(), parts, TableSpec.id(name) >>> (Long.SIZE - NAME_BITS));
    }
    throw new IllegalArgumentException(
        "table '%s' of kind %s, slicer %s: only a tensor with Slicer.parts has parts"
            .formatted(spec.name(), spec.kind(), spec.slicer().text()));
  }

  /// How many there are.
  public int count() {
    return (int) ((elements + slicer.elements() - 1) / slicer.elements());
  }

  /// The first element of a part.
  public long begin(int part) {
    return part * slicer.elements();
  }

  /// Elements of a part.
  public long elements(int part) {
    return Math.min(slicer.elements(), elements - begin(part));
  }

  /// The shard of a part.
  public int shard(int part, int shards) {
    return slicer.shard(first + part, shards);
  }
}
