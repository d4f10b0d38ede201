// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiFunction;

/// The kernels of this JVM. They run on vectors if `jdk.incubator.vector` is resolved (start Java
/// with `--add-modules jdk.incubator.vector`), otherwise on heap tiles. Both produce the bits of
/// `reference`. Stateless; any thread.
public final class Kernels {

  private static final KernelSet FASTEST = fastest();
  private static final Map<DType, Map<ReduceOp, ReduceKernel>> REDUCERS =
      byTypeAndOp(FASTEST::reducer);
  private static final Map<DType, Divider> DIVIDERS = dividers(FASTEST);

  private Kernels() {}

  /// Returns the fastest reducer of this JVM, the same object at each call. AVERAGE reduces like
  /// SUM; the caller then calls `divide` once, at the end. The first call on a thread may allocate
  /// its tiles. Later calls of a compiled kernel (see `warmUp`) do not allocate.
  public static ReduceKernel reducer(DType dtype, ReduceOp op) {
    return present(present(REDUCERS, dtype), op);
  }

  /// Returns the slow element-by-element reducer that defines the result: a model for tests.
  public static ReduceKernel reference(DType dtype, ReduceOp op) {
    return new ScalarKernels().reducer(dtype, op);
  }

  /// Divides `elements` elements from byte `offset` by `divisor` in place, the second step of
  /// AVERAGE. Floating types divide by the IEEE rules and round to nearest even; the 16-bit types
  /// divide in binary32. The divisor is first rounded to the type of the division. Integers
  /// truncate toward zero. Checks bounds once per call. Throws `IllegalArgumentException` for a
  /// divisor below 1; the data is then unchanged.
  ///
  /// Hot path.
  public static void divide(
      DType dtype, MemorySegment data, long offset, long elements, int divisor) {
    if (divisor < 1) {
      throw new IllegalArgumentException(
          "divide " + dtype + " by " + divisor + ": the divisor is a number of ranks, at least 1");
    }
    present(DIVIDERS, dtype).divide(data, offset, elements, divisor);
  }

  /// Writes `from` times `factor` to `into`, which may be the same memory. Both must have the same
  /// shape and the same floating-point type. The 16-bit types are multiplied in binary32 by the
  /// factor rounded to binary32, and rounded to nearest even. Throws `IllegalArgumentException` for
  /// other tensors.
  public static void scale(TensorView from, TensorView into, double factor) {
    ElementwiseTiles.scale(from, into, factor);
  }

  /// Converts the elements of `from` to the type of `into`, rounding to nearest even. Both tensors
  /// must have one shape, and each must be FLOAT32, FLOAT16 or BFLOAT16. Throws
  /// `IllegalArgumentException` for other tensors.
  public static void convert(TensorView from, TensorView into) {
    convert(from, into, 1);
  }

  /// Converts like `convert(from, into)` after multiplying each element by `factor`, which is
  /// rounded to binary32. The product is rounded first to binary32 and then to the type of `into`.
  public static void convert(TensorView from, TensorView into, double factor) {
    ElementwiseTiles.convert(from, into, (float) factor);
  }

  /// Returns the index of the first NaN or infinity, or -1. Takes FLOAT32, FLOAT16 and BFLOAT16;
  /// throws `IllegalArgumentException` for other types. Makes one pass over the tensor.
  public static long firstNotFinite(TensorView tensor) {
    return ElementwiseTiles.firstNotFinite(tensor);
  }

  /// Warms up the kernels of data-parallel training: the sum and the mean of FLOAT32. Takes about
  /// 0.3 s on idle cores and up to 3 s on busy ones. Call it once, at start, because a vector
  /// kernel is about 1,000 times slower until it is compiled.
  public static void warmUp() {
    warmUp(DType.FLOAT32, ReduceOp.AVERAGE);
  }

  /// Warms up one kernel, and the divider for AVERAGE. Takes 0.05 to 0.3 s per kernel on idle cores
  /// and at most 1.5 s on busy ones. A compiled kernel takes about 1 ms, or 0.1 s if it is
  /// inherently slow, such as an integer division. Keeps the calling thread busy.
  public static void warmUp(DType dtype, ReduceOp op) {
    KernelWarmUp.run(reducer(dtype, op), dtype);
    if (op == ReduceOp.AVERAGE) {
      KernelWarmUp.run(present(DIVIDERS, dtype), dtype);
    }
  }

  /// Warms up every kernel of these types. Takes 0.3 to 2 s per type on idle cores, BFLOAT16 the
  /// longest.
  public static void warmUp(Set<DType> dtypes) {
    for (DType dtype : dtypes) {
      for (ReduceOp op : ReduceOp.values()) {
        warmUp(dtype, op);
      }
    }
  }

  /// Returns the kind of the kernels for reports, such as "vector 512" or "heap tiles".
  public static String description() {
    return FASTEST.description();
  }

  private static KernelSet fastest() {
    boolean vectors = ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent();
    return vectors ? new VectorKernels() : new TileKernels();
  }

  private static <K> Map<DType, Map<ReduceOp, K>> byTypeAndOp(
      BiFunction<DType, ReduceOp, K> kernel) {
    Map<DType, Map<ReduceOp, K>> kernels = new EnumMap<>(DType.class);
    for (DType dtype : DType.values()) {
      Map<ReduceOp, K> ofType = new EnumMap<>(ReduceOp.class);
      for (ReduceOp op : ReduceOp.values()) {
        ofType.put(op, kernel.apply(dtype, op));
      }
      kernels.put(dtype, Collections.unmodifiableMap(ofType));
    }
    return Collections.unmodifiableMap(kernels);
  }

  private static Map<DType, Divider> dividers(KernelSet kernels) {
    Map<DType, Divider> dividers = new EnumMap<>(DType.class);
    for (DType dtype : DType.values()) {
      dividers.put(dtype, kernels.divider(dtype));
    }
    return Collections.unmodifiableMap(dividers);
  }

  private static <K, V> V present(Map<K, V> map, K key) {
    return Objects.requireNonNull(map.get(key));
  }
}
