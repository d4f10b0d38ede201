// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.group;

import io.weft.collective.Tuning;
import io.weft.collective.frame.Hash;
import io.weft.collective.plan.CollectiveKind;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What all ranks must agree on for one operation. Compared by `hash` on the way, told in words
/// when it differs.
///
/// @param words kind, type, shape, reduction, root, algorithm
/// @param hash of the words; 32 bits
/// @param bytes length of this rank's own tensor, which need not be the others'
public record OperationSignature(String words, int hash, long bytes) {

  /// `tuning` is part of it, since both sides of a transfer derive its segments from it.
  public static OperationSignature of(
      CollectiveKind kind, DType dtype, Shape shape, String detail, Tuning tuning) {
    boolean sameFirst = kind != CollectiveKind.ALLGATHER && kind != CollectiveKind.ALLTOALL;
    String extents = sameFirst ? shape.toString() : anyFirst(shape);
    String words = kind.words() + " " + dtype + extents + (detail.isEmpty() ? "" : " " + detail);
    words += tuning.equals(Tuning.DEFAULT) ? "" : " with " + tuning;
    return new OperationSignature(
        words, (int) Hash.of(0, words), Math.multiplyExact(shape.elements(), dtype.bytes()));
  }

  private static String anyFirst(Shape shape) {
    return Stream.concat(Stream.of("*"), shape.dims().stream().skip(1).map(String::valueOf))
        .collect(Collectors.joining(", ", "[", "]"));
  }
}
