// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import io.weft.comm.CompletableHandle;
import io.weft.comm.Handle;
import io.weft.dataparallel.Reducer;
import io.weft.dataparallel.worker.Worker;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.Kernels;
import io.weft.tensor.quantize.Residual;
import java.lang.foreign.Arena;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/// An exchange with error feedback: it runs one at a time, has a residual of the whole gradient,
/// and submits several collectives in turn, any of which may fail.
abstract sealed class FeedbackExchange implements TensorExchange
    permits QuantizedExchange, TopKExchange {

  final Reducer reducer;
  final String name;
  final Residual residual;
  private final Worker worker;
  private final long elements;
  private final AtomicBoolean busy = new AtomicBoolean();

  FeedbackExchange(Reducer reducer, Worker worker, CompressedGradient gradient) {
    this.reducer = reducer;
    this.worker = worker;
    this.name = gradient.name();
    this.elements = gradient.elements();
    this.residual = new Residual(elements);
  }

  /// An exchange in flight.
  ///
  /// @param average memory for the result
  /// @param factor factor by which the result is multiplied
  record Running(TensorView average, double factor, CompletableHandle<TensorView> handle) {}

  /// The continuation after a collective, on the worker's thread.
  @FunctionalInterface
  interface Arrival<R> {

    /// Continues with the result. An exception fails the exchange.
    void arrived(R result);
  }

  static TensorView bytes(Arena arena, long length) {
    return new TensorView(DType.UINT8, Shape.of(length), arena.allocate(length, 64));
  }

  @Override
  public final long elements() {
    return elements;
  }

  @Override
  public final Handle<TensorView> start(TensorView gradient, TensorView average, double factor) {
    if (!busy.compareAndSet(false, true)) {
      throw new IllegalStateException(
          "gradient '%s' is in flight on rank %d already; await it first, or use another name"
              .formatted(name, self()));
    }
    var handle =
        CompletableHandle.<TensorView>of("%s of '%s' on rank %d".formatted(words(), name, self()));
    try {
      begin(gradient, new Running(average, factor, handle));
      return handle;
    } catch (RuntimeException | Error refused) {
      busy.set(false);
      throw refused;
    }
  }

  /// Returns the exchange in words, for errors.
  abstract String words();

  abstract void begin(TensorView gradient, Running running);

  /// Continues when the collective is done, or fails the exchange with its cause.
  final <R> void then(Handle<R> collective, Running running, Arrival<R> next) {
    worker.after(
        collective,
        (result, failure) -> {
          if (failure != null) {
            fail(running, failure);
            return;
          }
          try {
            next.arrived(Objects.requireNonNull(result));
          } catch (RuntimeException | Error thrown) {
            fail(running, thrown);
          }
        });
  }

  /// Completes the exchange after the average is written.
  final void succeed(Running running) {
    residual.commit();
    if (running.factor() != 1) {
      Kernels.scale(running.average(), running.average(), running.factor());
    }
    busy.set(false);
    running.handle().complete(running.average());
  }

  private void fail(Running running, Throwable cause) {
    busy.set(false);
    running.handle().fail(cause, self());
  }

  /// Returns this rank's number in the job.
  private int self() {
    return reducer.members().get(reducer.rank());
  }
}
