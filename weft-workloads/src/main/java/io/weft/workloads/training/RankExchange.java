// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.collective.AllreduceRequest;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.Handle;
import io.weft.telemetry.timeline.JobClock;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.workloads.checkpoint.History;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.DoubleStream;

/// The exchange of counts, times, digests and examples between ranks. Every call is collective and
/// waits. In a job of one rank each call returns its argument. Confined to one thread.
public final class RankExchange {

  private static final String PREFIX = "weft-train/";

  /// The deadline of a wait for ranks that read data or test a model. A rank that dies ends the
  /// wait at once.
  private static final Duration PATIENCE = Duration.ofHours(2);

  private final IntSupplier size;
  private final Supplier<Communicator> communicator;
  private final Optional<Duration> limit;

  private RankExchange(
      IntSupplier size, Supplier<Communicator> communicator, Optional<Duration> limit) {
    this.size = size;
    this.communicator = communicator;
    this.limit = limit;
  }

  /// Returns the exchange of a rank that has no others.
  public static RankExchange ofOne() {
    return new RankExchange(
        () -> 1,
        () -> {
          throw new IllegalStateException("one rank has no communicator");
        },
        Optional.empty());
  }

  /// Returns the exchange between the ranks of a communicator; borrowed.
  public static RankExchange of(Communicator communicator) {
    return new RankExchange(communicator::size, () -> communicator, Optional.empty());
  }

  /// Returns the exchange between the present ranks of a job.
  static RankExchange of(TrainingJob job) {
    return new RankExchange(job::size, job::communicator, Optional.empty());
  }

  /// Returns an exchange that waits for ranks that still read data or test a model, longer than the
  /// communicator's deadline allows.
  public RankExchange patient() {
    return new RankExchange(size, communicator, Optional.of(PATIENCE));
  }

  boolean alone() {
    return size.getAsInt() == 1;
  }

  /// Throws `TrainingException.Unfit` unless all ranks have read equal data. A rank with fewer
  /// examples would take fewer steps.
  ///
  /// @param rank a rank's role in words
  /// @param extent of the data in words
  public void requireSame(String what, String rank, String extent) {
    List<String> all = patient().gather(what, extent);
    for (int other = 1; other < all.size(); other++) {
      if (!all.get(other).equals(all.getFirst())) {
        throw new TrainingException.Unfit(
            "%s 0 has read %s, %s %d %s; give --data with the same files on all hosts"
                .formatted(rank, all.getFirst(), rank, other, all.get(other)));
      }
    }
  }

  /// Combines values element by element; the bits are equal on all ranks and for any placement.
  double[] combine(String what, ReduceOp op, double... values) {
    if (alone()) {
      return values.clone();
    }
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocateFrom(ValueLayout.JAVA_DOUBLE, values);
      var view = new TensorView(DType.FLOAT64, Shape.of(values.length), memory);
      await(communicator().allreduce(view, view, op, named(what).inRankOrder()));
      return memory.toArray(ValueLayout.JAVA_DOUBLE);
    }
  }

  /// Compares the clock with that of the first rank.
  void compare(JobClock clock) {
    if (alone()) {
      return;
    }
    try {
      clock.compare(communicator());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while ranks compare their clocks", e);
    }
  }

  /// Returns rank 0's numbers on all ranks.
  public long[] fromRoot(String what, long... values) {
    return from(0, what, values);
  }

  /// Returns one rank's numbers on all ranks.
  long[] from(int root, String what, long... values) {
    if (alone()) {
      return values.clone();
    }
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocateFrom(ValueLayout.JAVA_LONG, values);
      var view = new TensorView(DType.INT64, Shape.of(values.length), memory);
      await(communicator().broadcast(view, root, named(what)));
      return memory.toArray(ValueLayout.JAVA_LONG);
    }
  }

  /// Returns one rank's numbers on all ranks; every rank must pass an equal number of values.
  double[] from(int root, String what, double... values) {
    long[] bits = Arrays.stream(values).mapToLong(Double::doubleToRawLongBits).toArray();
    MemorySegment agreed = MemorySegment.ofArray(from(root, what, bits));
    return agreed.toArray(ValueLayout.JAVA_DOUBLE);
  }

  /// Returns one rank's history, of these lengths, on all ranks.
  History from(int root, History mine, int losses, int accuracies) {
    return new History(
        numbers(root, "history/losses", mine.losses(), losses),
        numbers(root, "history/accuracies", mine.accuracies(), accuracies));
  }

  private List<Double> numbers(int root, String what, List<Double> mine, int count) {
    if (count == 0) {
      return List.of();
    }
    double[] numbers = new double[count];
    for (int i = 0; i < Math.min(count, mine.size()); i++) {
      numbers[i] = mine.get(i);
    }
    return DoubleStream.of(from(root, what, numbers)).boxed().toList();
  }

  /// Copies one rank's memory into the memory of all ranks.
  void from(int root, String what, TensorView memory) {
    if (!alone()) {
      await(communicator().broadcast(memory, root, named(what)));
    }
  }

  /// Returns when all ranks have called it.
  public void barrier(String what) {
    if (!alone()) {
      var unused = communicator().barrier(named(what));
      await(unused);
    }
  }

  /// Returns the word of each rank, in order of rank.
  public List<String> gather(String what, String word) {
    if (alone()) {
      return List.of(word);
    }
    byte[] line = (word.replace('\n', ' ') + "\n").getBytes(StandardCharsets.UTF_8);
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(line.length);
      MemorySegment.copy(line, 0, memory, ValueLayout.JAVA_BYTE, 0, line.length);
      var view = new TensorView(DType.UINT8, Shape.of(line.length), memory);
      try (TensorLease all = await(communicator().allgather(view, named(what)))) {
        byte[] text = all.view().data().toArray(ValueLayout.JAVA_BYTE);
        return new String(text, StandardCharsets.UTF_8).lines().toList();
      }
    }
  }

  /// Returns the numbers of each rank, in order of rank; every rank must pass an equal number.
  public List<double[]> gather(String what, double... row) {
    if (alone()) {
      return List.of(row.clone());
    }
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocateFrom(ValueLayout.JAVA_DOUBLE, row);
      var view = new TensorView(DType.FLOAT64, Shape.of(1, row.length), memory);
      try (TensorLease all = await(communicator().allgather(view, named(what)))) {
        List<double[]> rows = new ArrayList<>();
        long bytes = memory.byteSize();
        for (long at = 0; at < all.view().bytes(); at += bytes) {
          rows.add(all.view().data().asSlice(at, bytes).toArray(ValueLayout.JAVA_DOUBLE_UNALIGNED));
        }
        return rows;
      }
    }
  }

  /// Gathers the rows of all ranks, in order of rank, in `all`.
  void gather(String what, TensorView rows, TensorView all) {
    try (TensorLease gathered = await(communicator().allgather(rows, named(what)))) {
      all.data().copyFrom(gathered.view().data());
    }
  }

  /// Sends each rank a part of this rank's rows, in order of rank. Returns the rows that this rank
  /// receives, in order of sender.
  byte[] scatter(String what, int width, byte[] rows, List<Long> splits) {
    if (alone()) {
      return rows;
    }
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(Math.max(1, rows.length)).asSlice(0, rows.length);
      MemorySegment.copy(rows, 0, memory, ValueLayout.JAVA_BYTE, 0, rows.length);
      var view = new TensorView(DType.UINT8, Shape.of(rows.length / width, width), memory);
      Communicator.Received mine = await(communicator().alltoall(view, splits, named(what)));
      try (TensorLease tensor = mine.tensor()) {
        return tensor.view().data().toArray(ValueLayout.JAVA_BYTE);
      }
    }
  }

  /// Averages each of these tensors in place over all ranks, all at the same time.
  void average(String what, List<TensorView> tensors) {
    if (alone()) {
      return;
    }
    var requests = new ArrayList<AllreduceRequest>();
    for (int i = 0; i < tensors.size(); i++) {
      requests.add(new AllreduceRequest(tensors.get(i), ReduceOp.AVERAGE, named(what + "/" + i)));
    }
    var unused = await(communicator().allreduceAll(requests));
  }

  /// Sums each of these tensors in place over all ranks, all at the same time. The order of the
  /// additions is a tree of all ranks and does not depend on their hosts.
  void sum(String what, List<TensorView> tensors) {
    if (alone()) {
      return;
    }
    var requests = new ArrayList<AllreduceRequest>();
    for (int i = 0; i < tensors.size(); i++) {
      CollectiveOptions options = named(what + "/" + i).inRankOrder();
      requests.add(new AllreduceRequest(tensors.get(i), ReduceOp.SUM, options));
    }
    var unused = await(communicator().allreduceAll(requests));
  }

  private Communicator communicator() {
    return communicator.get();
  }

  private CollectiveOptions named(String what) {
    CollectiveOptions options = CollectiveOptions.named(PREFIX + what);
    return limit.map(options::within).orElse(options);
  }

  private static <T> T await(Handle<T> handle) {
    try {
      return handle.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for the other ranks", e);
    }
  }
}
