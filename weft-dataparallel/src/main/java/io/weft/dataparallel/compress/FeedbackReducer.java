// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import io.weft.comm.CommException;
import io.weft.comm.CompletableHandle;
import io.weft.comm.Handle;
import io.weft.dataparallel.Reducer;
import io.weft.dataparallel.ReductionRequest;
import io.weft.dataparallel.TensorReducer;
import io.weft.dataparallel.worker.Worker;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// A reducer that averages gradients by exchanges with residuals, one for each name, over the
/// reducer below. A sum is the average times the number of ranks. Tensors that are not FLOAT32, and
/// other operations than SUM and AVERAGE, are passed to the reducer below, and so are all tensors
/// on a single rank. Thread-safe.
final class FeedbackReducer implements TensorReducer {

  private final Map<String, TensorExchange> exchanges = new ConcurrentHashMap<>();
  private final Reducer below;
  private final TensorExchange.Opening opening;
  private final Element.Source source;
  private final Worker worker;

  FeedbackReducer(Reducer below, Element.Source source, TensorExchange.Opening opening) {
    this.below = below;
    this.opening = opening;
    this.source = source;
    this.worker = new Worker("weft-compression-" + below.rank());
  }

  @Override
  public Handle<TensorView> allreduce(ReductionRequest request) {
    TensorView gradient = request.input();
    boolean averages = request.op() == ReduceOp.AVERAGE || request.op() == ReduceOp.SUM;
    if (gradient.dtype() != DType.FLOAT32 || !averages) {
      return below.allreduce(request);
    }
    if (below.size() == 1) {
      return alone(request);
    }
    String name = request.name();
    long elements = gradient.shape().elements();
    TensorExchange exchange =
        exchanges.computeIfAbsent(
            name, key -> opening.open(new CompressedGradient(key, elements, source), worker));
    if (exchange.elements() != elements) {
      throw new IllegalArgumentException(
          "gradient '%s' has %d elements, and had %d before, which its residual belongs to; give it"
                  .formatted(name, elements, exchange.elements())
              + " another name");
    }
    return exchange.start(gradient, request.output(), factor(request));
  }

  /// Returns the factor by which the average is multiplied. Compression does not depend on the
  /// scale of the numbers.
  private double factor(ReductionRequest request) {
    double sums = request.op() == ReduceOp.SUM ? below.size() : 1;
    return request.factors().before() * request.factors().after() * sums;
  }

  /// Reduces on a single rank. It refuses the elements that an exchange would refuse.
  private Handle<TensorView> alone(ReductionRequest request) {
    long bad = Kernels.firstNotFinite(request.input());
    if (bad < 0) {
      return below.allreduce(request);
    }
    float value = request.input().data().getAtIndex(JAVA_FLOAT_UNALIGNED, bad);
    var handle = CompletableHandle.<TensorView>of("the mean of '" + request.name() + "'");
    int self = below.members().getFirst();
    String words = ExchangeHeader.bad(source.of(request.name(), bad), self, "", value);
    handle.fail(new CommException.Broken(words, self, null));
    return handle;
  }

  @Override
  public Handle<List<TensorView>> reduceAll(List<ReductionRequest> group) {
    List<Handle<TensorView>> handles = new ArrayList<>(group.size());
    for (ReductionRequest each : group) {
      handles.add(allreduce(each));
    }
    return Reducer.all(handles);
  }
}
