// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import io.weft.collective.AllreduceRequest;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.collective.Tuning;
import io.weft.comm.CommException;
import io.weft.comm.CompletableHandle;
import io.weft.comm.Handle;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A communicator of one rank whose operations complete at once. It corrupts the last float32 of
/// every `spoilEvery`-th result, or of none if that is 0.
final class LoneCommunicator implements Communicator {

  private final int spoilEvery;
  private int results;

  LoneCommunicator(int spoilEvery) {
    this.spoilEvery = spoilEvery;
  }

  private void bring(TensorView from, TensorView into) {
    into.data().copyFrom(from.data());
    if (into.dtype() == DType.FLOAT32 && spoilEvery > 0 && ++results % spoilEvery == 0) {
      long last = into.shape().elements() - 1;
      float right = into.data().getAtIndex(ValueLayout.JAVA_FLOAT, last);
      into.data().setAtIndex(ValueLayout.JAVA_FLOAT, last, -right);
    }
  }

  private TensorLease bring(TensorView from) {
    Arena arena = Arena.ofShared();
    TensorView into =
        new TensorView(from.dtype(), from.shape(), arena.allocate(from.bytes(), Long.BYTES));
    bring(from, into);
    return new TensorLease() {
      @Override
      public TensorView view() {
        return into;
      }

      @Override
      public void close() {
        arena.close();
      }
    };
  }

  @Override
  public int rank() {
    return 0;
  }

  @Override
  public Communicator duplicate(String name) {
    throw new UnsupportedOperationException("duplicate of " + this);
  }

  @Override
  public int size() {
    return 1;
  }

  @Override
  public Handle<TensorView> allreduce(AllreduceRequest request) {
    bring(request.input(), request.output());
    return done(request.output());
  }

  @Override
  public Handle<List<TensorView>> allreduceAll(List<AllreduceRequest> requests) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Handle<TensorView> reduceScatter(
      TensorView input, TensorView output, ReduceOp op, CollectiveOptions options) {
    bring(input, output);
    return done(output);
  }

  @Override
  public Handle<TensorLease> allgather(TensorView input, CollectiveOptions options) {
    return done(bring(input));
  }

  @Override
  public Handle<TensorView> broadcast(TensorView inOut, int root, CollectiveOptions options) {
    bring(inOut, inOut);
    return done(inOut);
  }

  @Override
  public Handle<Received> alltoall(TensorView input, List<Long> splits, CollectiveOptions options) {
    return done(new Received(bring(input), splits));
  }

  @Override
  public Handle<Void> barrier(CollectiveOptions options) {
    return done(null);
  }

  @Override
  public Tuning tuning() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Handle<Void> tune(Tuning next) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void abort(CommException cause) {
    throw cause;
  }

  @Override
  public void close() {}

  private static <T> Handle<T> done(@Nullable T result) {
    CompletableHandle<T> handle = CompletableHandle.of("an operation of a lone rank");
    handle.complete(result);
    return handle;
  }
}
