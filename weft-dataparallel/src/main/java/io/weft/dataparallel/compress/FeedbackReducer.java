// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import io.weft.collective.Communicator;
import io.weft.comm.Handle;
import io.weft.dataparallel.worker.Worker;
import io.weft.gradient.GradientReducer;
import io.weft.tensor.DType;
import io.weft.tensor.TensorView;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Averages gradients by exchanges that keep residuals, one for each name. What is not FLOAT32, and
/// everything on a single rank, goes by a plain allreduce. Thread-safe.
final class FeedbackReducer implements GradientReducer {

  private final Map<String, TensorExchange> exchanges = new ConcurrentHashMap<>();
  private final GradientReducer plain;
  private final TensorExchange.Opening opening;
  private final Worker worker;
  private final boolean alone;

  FeedbackReducer(Communicator communicator, TensorExchange.Opening opening) {
    this.plain = GradientReducer.ALLREDUCE.over(communicator);
    this.opening = opening;
    this.worker = new Worker("weft-compression-" + communicator.rank());
    this.alone = communicator.size() == 1;
  }

  @Override
  public Handle<TensorView> reduce(String name, TensorView gradient, TensorView average) {
    if (alone || gradient.dtype() != DType.FLOAT32) {
      return plain.reduce(name, gradient, average);
    }
    if (average.dtype() != DType.FLOAT32 || !average.shape().equals(gradient.shape())) {
      throw new IllegalArgumentException(
          "gradient '%s': the average is %s, expected %s"
              .formatted(name, average.signature(), gradient.signature()));
    }
    long elements = gradient.shape().elements();
    TensorExchange exchange =
        exchanges.computeIfAbsent(name, key -> opening.open(key, elements, worker));
    if (exchange.elements() != elements) {
      throw new IllegalArgumentException(
          "gradient '%s' has %d elements, and had %d before, which its residual belongs to; give it"
                  .formatted(name, elements, exchange.elements())
              + " another name");
    }
    return exchange.start(gradient, average);
  }
}
