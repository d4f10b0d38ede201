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

/// The kernels of this JVM: on vectors where `jdk.incubator.vector` is resolved (start Java with
/// `--add-modules jdk.incubator.vector`), else on heap tiles. Both give the bits of `reference`.
/// Stateless; any thread.
public final class Kernels {

  private static final KernelSet FASTEST = fastest();
  private static final Map<DType, Map<ReduceOp, Reducer>> REDUCERS = byTypeAndOp(FASTEST::reducer);
  private static final Map<DType, Divider> DIVIDERS = dividers(FASTEST);

  private Kernels() {}

  /// The fastest reducer here, always the same object. AVERAGE reduces like SUM; the division is
  /// `divide`, once, at the end. The first call on a thread may allocate its tiles; no later one
  /// allocates, once the kernel is compiled (see `warmUp`).
  public static Reducer reducer(DType dtype, ReduceOp op) {
    return present(present(REDUCERS, dtype), op);
  }

  /// The reducer that defines the result, one element at a time and slow: a model for tests.
  public static Reducer reference(DType dtype, ReduceOp op) {
    return new ScalarKernels().reducer(dtype, op);
  }

  /// Divides `elements` elements in place by `divisor`, from byte `offset`: the second half of
  /// AVERAGE. Floating types divide by the IEEE rules, the 16-bit ones in binary32, rounding to
  /// nearest even; the divisor is first rounded to the type of the division. Integers truncate
  /// toward zero. Bounds are checked once per call. Throws `IllegalArgumentException` for a divisor
  /// below 1; the data is then unchanged.
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

  /// Writes `from` times `factor` into `into`, which may be the same memory: of one shape and one
  /// floating type. The 16-bit types are multiplied in binary32, by the factor rounded to that, and
  /// rounded to nearest even. Throws `IllegalArgumentException` for other tensors.
  public static void scale(TensorView from, TensorView into, double factor) {
    ElementwiseTiles.scale(from, into, factor);
  }

  /// Writes the elements of `from` into `into`, each as the nearest value of its type, ties to
  /// even: of one shape, and of FLOAT32, FLOAT16 or BFLOAT16 each. Throws
  /// `IllegalArgumentException` for other tensors.
  public static void convert(TensorView from, TensorView into) {
    convert(from, into, 1);
  }

  /// The same of each element times `factor`, which is rounded to binary32: the product is rounded
  /// to that first, and to the type of `into` then.
  public static void convert(TensorView from, TensorView into, double factor) {
    ElementwiseTiles.convert(from, into, (float) factor);
  }

  /// Returns the index of the first NaN or infinity, or -1. Of FLOAT32, FLOAT16 and BFLOAT16;
  /// throws `IllegalArgumentException` for other tensors. One pass over the tensor.
  public static long firstNotFinite(TensorView tensor) {
    return ElementwiseTiles.firstNotFinite(tensor);
  }

  /// Warms up what data-parallel training uses: the sum and the mean of FLOAT32. Takes about 0.3 s
  /// on idle cores and up to 3 s on busy ones; call it once, at start. A vector kernel that is not
  /// compiled is about 1,000 times slower.
  public static void warmUp() {
    warmUp(DType.FLOAT32, ReduceOp.AVERAGE);
  }

  /// Warms up one kernel, and the divider for AVERAGE. Takes 0.05 to 0.3 s per kernel on idle
  /// cores, at most 1.5 s on busy ones, and about 1 ms if it is compiled already (0.1 s for one
  /// that is slow by nature, as a division of integers). Keeps the calling thread busy.
  public static void warmUp(DType dtype, ReduceOp op) {
    WarmUp.run(reducer(dtype, op), dtype);
    if (op == ReduceOp.AVERAGE) {
      WarmUp.run(present(DIVIDERS, dtype), dtype);
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

  /// "vector 512" or "heap tiles", for reports.
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
