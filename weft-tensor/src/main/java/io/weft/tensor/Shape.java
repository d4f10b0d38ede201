// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor;

import java.util.List;

/// The extents of a tensor, outermost first; `[]` is a scalar. Immutable. No extent is negative,
/// and the product of the extents fits a `long`.
public record Shape(List<Long> dims) {

  /// Throws `IllegalArgumentException` for a negative extent or a product beyond 2^63-1.
  public Shape {
    dims = List.copyOf(dims);
    long elements = 1;
    for (long dim : dims) {
      if (dim < 0) {
        throw new IllegalArgumentException("extent " + dim + " in shape " + dims + " is negative");
      }
      try {
        elements = Math.multiplyExact(elements, dim);
      } catch (ArithmeticException e) {
        throw new IllegalArgumentException("shape " + dims + " has more than 2^63-1 elements", e);
      }
    }
  }

  /// Returns the shape with these extents.
  public static Shape of(long... dims) {
    return new Shape(java.util.Arrays.stream(dims).boxed().toList());
  }

  /// Returns the number of elements, which is 1 for a scalar.
  public long elements() {
    long elements = 1;
    for (long dim : dims) {
      elements *= dim;
    }
    return elements;
  }

  /// Returns this shape with another first extent. Throws `IllegalArgumentException` for a scalar.
  public Shape withFirst(long first) {
    if (dims.isEmpty()) {
      throw new IllegalArgumentException("a scalar has no first extent");
    }
    long[] changed = dims.stream().mapToLong(Long::longValue).toArray();
    changed[0] = first;
    return of(changed);
  }

  /// Returns the number of elements in one row, the product of all extents except the first. Throws
  /// `IllegalArgumentException` for a scalar.
  public long elementsPerRow() {
    return withFirst(1).elements();
  }

  @Override
  public String toString() {
    return dims.toString();
  }
}
