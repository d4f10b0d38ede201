// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// A **borrowed** dense, row-major tensor in native memory: `data.byteSize() == shape.elements() *
/// dtype.bytes()`.
///
/// @param dtype element type
/// @param shape extents
/// @param data native (off-heap) memory; the lender keeps it alive until the operation that borrows
///   it completes
/// @param kind the location of the memory
public record TensorView(DType dtype, Shape shape, MemorySegment data, MemoryKind kind) {

  /// Throws `IllegalArgumentException` if the memory is on the heap or its length does not match
  /// shape and dtype.
  public TensorView {
    if (!data.isNative()) {
      throw new IllegalArgumentException(
          "a tensor's memory must be native, not on the heap; allocate it with Weft.allocate, or"
              + " with Arena.ofShared() or Arena.ofAuto()");
    }
    long expected = bytes(dtype, shape);
    if (data.byteSize() != expected) {
      throw new IllegalArgumentException(
          "tensor of " + dtype + shape + " needs " + expected + " bytes, got " + data.byteSize());
    }
  }

  /// Creates a view of host memory.
  public TensorView(DType dtype, Shape shape, MemorySegment data) {
    this(dtype, shape, data, MemoryKind.HOST);
  }

  /// Returns the length of the data in bytes.
  public long bytes() {
    return data.byteSize();
  }

  /// Returns the size in bytes of a tensor of this type and shape. Throws
  /// `IllegalArgumentException` if it exceeds 2^63-1.
  public static long bytes(DType dtype, Shape shape) {
    long elements = shape.elements();
    if (elements > Long.MAX_VALUE / dtype.bytes()) {
      throw new IllegalArgumentException(
          "tensor of " + dtype + shape + " has more than 2^63-1 bytes");
    }
    return elements * dtype.bytes();
  }

  /// Returns `count` rows from row `first`, without a copy, borrowed for the lifetime of this view.
  /// Throws `IllegalArgumentException` for a scalar and `IndexOutOfBoundsException` for rows
  /// outside the tensor.
  public TensorView rows(long first, long count) {
    Shape part = shape.withFirst(count);
    Objects.checkFromIndexSize(first, count, shape.dims().getFirst());
    long rowBytes = shape.elementsPerRow() * dtype.bytes();
    return new TensorView(dtype, part, data.asSlice(first * rowBytes, count * rowBytes), kind);
  }

  /// Returns the elements in another shape, without a copy. Throws `IllegalArgumentException` if
  /// the number of elements differs.
  public TensorView reshaped(Shape other) {
    if (other.elements() != shape.elements()) {
      throw new IllegalArgumentException(
          signature()
              + " has "
              + shape.elements()
              + " elements, the shape "
              + other
              + " has "
              + other.elements());
    }
    return new TensorView(dtype, other, data, kind);
  }

  /// Returns the type and shape for error messages, such as `FLOAT32[64, 10]`.
  public String signature() {
    return dtype.toString() + shape;
  }
}
