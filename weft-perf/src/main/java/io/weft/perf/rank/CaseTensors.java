// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import io.weft.Weft;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The tensors of one case: in memory that Weft gives, or in private native memory of this program,
/// page-aligned either way. Owns them all. Confined to the rank's main thread, but the progress
/// thread reads the tensors.
final class CaseTensors implements AutoCloseable {

  private static final long PAGE_BYTES = 4096;

  private final @Nullable Weft source;
  private final Arena arena = Arena.ofShared();
  private final List<TensorLease> leases = new ArrayList<>();

  private CaseTensors(@Nullable Weft source) {
    this.source = source;
  }

  /// In memory that `weft` gives.
  static CaseTensors of(Weft weft) {
    return new CaseTensors(weft);
  }

  /// In memory of which Weft knows nothing.
  static CaseTensors ofThisProgram() {
    return new CaseTensors(null);
  }

  /// A float32 vector.
  TensorView vector(long elements) {
    if (source != null) {
      TensorLease lease = source.allocate(DType.FLOAT32, Shape.of(elements));
      leases.add(lease);
      return lease.view();
    }
    return new TensorView(
        DType.FLOAT32,
        Shape.of(elements),
        arena.allocate(Math.multiplyExact(elements, Float.BYTES), PAGE_BYTES));
  }

  /// Memory for what is no tensor; lives as long.
  Arena arena() {
    return arena;
  }

  @Override
  public void close() {
    leases.forEach(TensorLease::close);
    arena.close();
  }
}
