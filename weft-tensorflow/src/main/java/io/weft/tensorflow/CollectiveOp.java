// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.collective.AllreduceRequest;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.collective.WireHook;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.comm.Handles;
import io.weft.dataparallel.CollectiveRequest;
import io.weft.dataparallel.Reducer;
import io.weft.dataparallel.ReductionRequest;
import io.weft.gradient.GradientReducer;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// The collective that an op of the graph runs, configured by its attributes. An op with several
/// inputs is a group of one operation per input, all submitted together.
///
/// @param <R> the result type of its operations
sealed interface CollectiveOp<R> {

  /// Submits the collective. Throws only if no operation was started.
  ///
  /// @param tensors borrowed until the run ends
  /// @return null if the collective has already ended
  @Nullable Handle<R> submit(CommunicatorTable.Served served, KernelTensors tensors);

  /// Turns the result into outputs that are not written yet. Must not block.
  ///
  /// @param result ownership passes to this method
  default void complete(R result, KernelTensors tensors) {}

  /// Returns whether the submitting thread has nothing else to compute until the collective ends.
  default boolean isAwaited() {
    return false;
  }

  /// Submits a group of operations. If an operation cannot be submitted, aborts the communicator so
  /// that the earlier operations end.
  private static <T> Handle<List<T>> group(
      Communicator communicator,
      int size,
      IntFunction<Handle<T>> submit,
      Consumer<? super T> discard) {
    List<Handle<T>> handles = new ArrayList<>(size);
    CommException refusal = null;
    for (int i = 0; i < size && refusal == null; i++) {
      try {
        handles.add(submit.apply(i));
      } catch (RuntimeException thrown) {
        if (handles.isEmpty()) {
          throw thrown;
        }
        refusal =
            thrown instanceof CommException known
                ? known
                : new CommException.Aborted(String.valueOf(thrown.getMessage()), thrown);
        communicator.abort(refusal);
      }
    }
    return Handles.all(handles, refusal, discard);
  }

  /// The op `WeftAllreduce` with one tensor.
  ///
  /// @param hook runs before and after the transport
  /// @param travel the reduction options for gradients
  record Allreduce(ReduceOp op, WireHook hook, GradientTravel travel, CollectiveOptions options)
      implements CollectiveOp<TensorView> {

    @Override
    public Handle<TensorView> submit(CommunicatorTable.Served served, KernelTensors tensors) {
      TensorView input = tensors.input(0);
      TensorView output = tensors.like(0, input);
      Communicator communicator = served.communicator();
      GradientReducer reducer = served.reducer();
      return reducer == null
          ? communicator.allreduce(new AllreduceRequest(input, output, op, hook, options))
          : travel.reduce(reducer, communicator.size(), options.name(), input, output);
    }
  }

  /// The op `WeftAllreduce` with several tensors.
  ///
  /// @param travel the reduction options for gradients
  /// @param isAwaited true if no other computation of the step remains
  record GroupedAllreduce(
      ReduceOp op,
      WireHook hook,
      GradientTravel travel,
      List<CollectiveOptions> options,
      boolean isAwaited)
      implements CollectiveOp<List<TensorView>> {

    @Override
    public Handle<List<TensorView>> submit(CommunicatorTable.Served served, KernelTensors tensors) {
      List<AllreduceRequest> requests = new ArrayList<>(options.size());
      for (int i = 0; i < options.size(); i++) {
        TensorView input = tensors.input(i);
        requests.add(new AllreduceRequest(input, tensors.like(i, input), op, hook, options.get(i)));
      }
      Communicator communicator = served.communicator();
      GradientReducer reducer = served.reducer();
      if (reducer == null) {
        return communicator.allreduceAll(requests);
      }
      Handle<List<TensorView>> whole =
          travel.reduceAll(
              reducer,
              communicator.size(),
              requests.stream()
                  .map(r -> ReductionRequest.of(r.name(), r.input(), r.output(), op))
                  .toList());
      return whole != null
          ? whole
          : group(
              communicator,
              requests.size(),
              i -> {
                AllreduceRequest request = requests.get(i);
                return travel.reduce(
                    reducer,
                    communicator.size(),
                    request.name(),
                    request.input(),
                    request.output());
              },
              output -> {});
    }
  }

  /// The op `WeftBroadcast`.
  record Broadcast(int root, List<CollectiveOptions> options)
      implements CollectiveOp<List<TensorView>> {

    @Override
    public Handle<List<TensorView>> submit(CommunicatorTable.Served served, KernelTensors tensors) {
      Communicator communicator = served.communicator();
      return group(
          communicator,
          options.size(),
          i -> {
            TensorView input = tensors.input(i);
            TensorView output = tensors.like(i, input);
            if (communicator.rank() == root && output.data().address() != input.data().address()) {
              output.data().copyFrom(input.data());
            }
            return communicator.broadcast(output, root, options.get(i));
          },
          output -> {});
    }
  }

  /// The op `WeftAllgather`.
  record Allgather(List<CollectiveOptions> options) implements CollectiveOp<List<TensorLease>> {

    @Override
    public Handle<List<TensorLease>> submit(
        CommunicatorTable.Served served, KernelTensors tensors) {
      Communicator communicator = served.communicator();
      return group(
          communicator,
          options.size(),
          i -> {
            TensorView input = tensors.input(i);
            return served.reducer() instanceof Reducer layer
                ? layer.submit(CollectiveRequest.Allgather.of(options.get(i).name(), input))
                : communicator.allgather(input, options.get(i));
          },
          TensorLease::close);
    }

    @Override
    public void complete(List<TensorLease> result, KernelTensors tensors) {
      int given = 0;
      try {
        while (given < result.size()) {
          tensors.give(given, result.get(given));
          given++;
        }
      } finally {
        result.subList(given, result.size()).forEach(TensorLease::close);
      }
    }
  }

  /// The op `WeftReduceScatter`.
  record ReduceScatter(ReduceOp op, List<CollectiveOptions> options)
      implements CollectiveOp<List<TensorView>> {

    @Override
    public Handle<List<TensorView>> submit(CommunicatorTable.Served served, KernelTensors tensors) {
      Communicator communicator = served.communicator();
      GradientReducer reducer = served.reducer();
      if (reducer != null && !(reducer instanceof Reducer)) {
        throw new IllegalArgumentException(
            ("gradients '%s': updates in shares go over a communicator or the reducers of a"
                    + " DataParallel, not over %s")
                .formatted(options.getFirst().name(), reducer));
      }
      return group(
          communicator,
          options.size(),
          i -> {
            TensorView input = tensors.input(i);
            Shape shape = input.shape();
            Shape mine =
                shape.dims().isEmpty()
                    ? shape // the communicator refuses it
                    : shape.withFirst(rows(shape.dims().getFirst(), communicator));
            TensorView output = tensors.output(i, input.dtype(), mine);
            return reducer instanceof Reducer layer
                ? layer.submit(
                    CollectiveRequest.ReduceScatter.of(options.get(i).name(), input, output, op))
                : communicator.reduceScatter(input, output, op, options.get(i));
          },
          output -> {});
    }

    private static long rows(long all, Communicator communicator) {
      int size = communicator.size();
      return all / size + (communicator.rank() < all % size ? 1 : 0);
    }
  }

  /// The op `WeftAlltoall`. Input 0 is the tensor to send. Input 1 is the number of its rows for
  /// each rank, or empty for equal parts.
  record Alltoall(CollectiveOptions options) implements CollectiveOp<Communicator.Received> {

    @Override
    public Handle<Communicator.Received> submit(
        CommunicatorTable.Served served, KernelTensors tensors) {
      TensorView input = tensors.input(0);
      TensorView splits = tensors.input(1);
      Communicator communicator = served.communicator();
      List<Long> rows = splits.bytes() == 0 ? equal(input, communicator.size()) : numbers(splits);
      return communicator.alltoall(input, rows, options);
    }

    @Override
    public void complete(Communicator.Received received, KernelTensors tensors) {
      List<Long> splits = received.splits();
      tensors.give(0, received.tensor());
      TensorView output = tensors.output(1, DType.INT64, Shape.of(splits.size()));
      for (int i = 0; i < splits.size(); i++) {
        output.data().setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i, splits.get(i));
      }
    }

    private List<Long> equal(TensorView input, int size) {
      List<Long> dims = input.shape().dims();
      if (dims.isEmpty() || dims.getFirst() % size != 0) {
        throw new IllegalArgumentException(
            "operation '"
                + options.name()
                + "': "
                + input.signature()
                + " has no first extent that "
                + size
                + " ranks divide; give the rows for each rank as splits");
      }
      return java.util.Collections.nCopies(size, dims.getFirst() / size);
    }

    private static List<Long> numbers(TensorView splits) {
      List<Long> numbers = new ArrayList<>();
      for (long i = 0; i < splits.shape().elements(); i++) {
        numbers.add(splits.data().getAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i));
      }
      return numbers;
    }
  }

  /// The ops `WeftRank` and `WeftSize`.
  enum Place implements CollectiveOp<Void> {
    /// The rank in the communicator.
    RANK,
    /// The number of ranks of the communicator.
    SIZE;

    @Override
    public @Nullable Handle<Void> submit(CommunicatorTable.Served served, KernelTensors tensors) {
      Communicator communicator = served.communicator();
      int value =
          switch (this) {
            case RANK -> communicator.rank();
            case SIZE -> communicator.size();
          };
      tensors
          .output(0, DType.INT32, Shape.of())
          .data()
          .set(ValueLayout.JAVA_INT_UNALIGNED, 0, value);
      return null;
    }
  }
}
