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

/// The tensors of one case. They are allocated by Weft or lie in private native memory of this
/// program, page-aligned in both cases. The object owns them. It is confined to the rank's main
/// thread, but the progress thread reads the tensors.
final class CaseTensors implements AutoCloseable {

  private static final long PAGE_BYTES = 4096;

  private final @Nullable Weft source;
  private final Arena arena = Arena.ofShared();
  private final List<TensorLease> leases = new ArrayList<>();

  private CaseTensors(@Nullable Weft source) {
    this.source = source;
  }

  /// Allocates tensors through `weft`.
  static CaseTensors of(Weft weft) {
    return new CaseTensors(weft);
  }

  /// Allocates tensors in memory that Weft does not know.
  static CaseTensors ofThisProgram() {
    return new CaseTensors(null);
  }

  /// Allocates a float32 vector.
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

  /// Returns the arena for memory that does not belong to a tensor. It closes with this object.
  Arena arena() {
    return arena;
  }

  @Override
  public void close() {
    leases.forEach(TensorLease::close);
    arena.close();
  }
}
