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

/// The properties of one operation on which all ranks must agree. Messages compare `hash`; a report
/// of a difference gives `words`.
///
/// @param words kind, type, shape, reduction, root, algorithm
/// @param hash 32-bit hash of the words
/// @param bytes length of this rank's tensor, which may differ from the other ranks' tensors
/// @param segments the segments in which the tensor is sent, if it is sent
/// @param tuning the communicator's tuning when the operation was submitted
public record OperationSignature(
    String words, int hash, long bytes, Segments segments, Tuning tuning) {

  /// Creates a signature. It includes the segments that the tuning derives from `table`, because
  /// both sides of a transfer cut by them.
  ///
  /// @param table the segments that the rule table gives
  public static OperationSignature of(
      CollectiveKind kind, DType dtype, Shape shape, String detail, Segments table, Tuning tuning) {
    Segments segments = tuning.override(table);
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
