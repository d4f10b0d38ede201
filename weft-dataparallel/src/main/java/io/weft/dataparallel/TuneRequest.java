// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.Tuning;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.time.Duration;

/// A request to change the communicator's tuning. Negotiating ranks must change it between the same
/// two rounds. The request's tensor is empty. Ranks agree on the new sizes as on a shape.
///
/// @param next the new sizes, equal on all ranks
record TuneRequest(Tuning next) implements CollectiveRequest<Tuning> {

  private static final TensorView NOTHING =
      new TensorView(DType.UINT8, Shape.of(0), Arena.global().allocate(0));

  /// Returns the request of a signature with this shape.
  static TuneRequest of(Shape sizes) {
    return new TuneRequest(new Tuning(size(sizes, 0), size(sizes, 1), size(sizes, 2)));
  }

  private static int size(Shape sizes, int index) {
    return Math.toIntExact(sizes.dims().get(index));
  }

  Shape sizes() {
    return Shape.of(next.eagerBytes(), next.segmentBytes(), next.windowSlots());
  }

  @Override
  public String name() {
    return "weft/tune";
  }

  @Override
  public TensorView input() {
    return NOTHING;
  }

  @Override
  public Duration deadline() {
    return Duration.ZERO;
  }
}
