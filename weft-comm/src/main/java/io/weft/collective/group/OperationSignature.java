// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.group;

import io.weft.collective.Tuning;
import io.weft.collective.choice.Segments;
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
/// @param segments in which it is sent, where it is
/// @param tuning by which the communicator ran when it was submitted
public record OperationSignature(
    String words, int hash, long bytes, Segments segments, Tuning tuning) {

  /// What the tuning makes of `table` is part of it, since both sides of a transfer cut by that.
  ///
  /// @param table the segments that the table of algorithms gives
  public static OperationSignature of(
      CollectiveKind kind, DType dtype, Shape shape, String detail, Segments table, Tuning tuning) {
    Segments segments = tuning.over(table);
    String extents = kind.sameBytes() ? shape.toString() : anyFirst(shape);
    String words = kind.words() + " " + dtype + extents + (detail.isEmpty() ? "" : " " + detail);
    words += segments.words();
    return new OperationSignature(
        words,
        (int) Hash.of(0, words),
        Math.multiplyExact(shape.elements(), dtype.bytes()),
        segments,
        tuning);
  }

  private static String anyFirst(Shape shape) {
    return Stream.concat(Stream.of("*"), shape.dims().stream().skip(1).map(String::valueOf))
        .collect(Collectors.joining(", ", "[", "]"));
  }
}
