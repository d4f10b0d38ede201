// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.collective.AllreduceRequest;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.collective.Tuning;
import io.weft.comm.CommException;
import io.weft.comm.CompletableHandle;
import io.weft.comm.Handle;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/// Ranks of one JVM whose collectives are matched in a map. One progress thread serves all ranks
/// and completes operations sequentially.
final class InMemoryRanks implements AutoCloseable {

  private int refused;
  private final List<Communicator> communicators = new ArrayList<>();
  private final Map<String, Meeting> meetings = new HashMap<>();
  private final ExecutorService runner =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("progress thread").factory());
  private @Nullable CommException aborted;

  InMemoryRanks(int size) {
    for (int rank = 0; rank < size; rank++) {
      communicators.add(new Rank(rank));
    }
  }

  Communicator of(int rank) {
    return communicators.get(rank);
  }

  List<Communicator> all() {
    return communicators;
  }

  /// Returns the number of operations that wait for a rank.
  synchronized int waiting() {
    return meetings.size();
  }

  /// Returns the number of operations that were refused because their name was in flight.
  synchronized int refused() {
    return refused;
  }

  /// Fails all operations, as the progress thread does when it notices the loss of a peer.
  synchronized void lose(int rank) {
    fail(
        new CommException.PeerLost(
            "allreduce: rank " + rank + " on node" + rank + " closed its connection", rank, null));
  }

  @Override
  public void close() {
    runner.shutdownNow();
  }

  private record Contribution(
      TensorView input, TensorView output, CompletableHandle<TensorView> handle) {}

  private static final class Meeting {
    final String what;
    final Contribution[] by;
    int arrived;

    Meeting(String what, int size) {
      this.what = what;
      by = new Contribution[size];
    }
  }

  private synchronized void fail(CommException cause) {
    if (aborted == null) {
      aborted = cause;
      List<Meeting> pending = new ArrayList<>(meetings.values());
      meetings.clear();
      runner.execute(() -> pending.forEach(meeting -> end(meeting, cause)));
    }
  }

  private static void end(Meeting meeting, CommException cause) {
    for (Contribution contribution : meeting.by) {
      if (contribution != null) {
        contribution.handle.fail(cause);
      }
    }
  }

  private synchronized Handle<TensorView> join(
      int rank, String what, @Nullable ReduceOp op, int root, Contribution mine, String name) {
    if (aborted != null) {
      CommException cause = aborted;
      runner.execute(() -> mine.handle.fail(cause));
      return mine.handle;
    }
    Meeting meeting = meetings.computeIfAbsent(name, n -> new Meeting(what, communicators.size()));
    if (meeting.by[rank] != null) {
      refused++;
      throw new IllegalStateException(
          "'" + name + "' is already in flight on rank " + rank + "; names must be unique");
    }
    meeting.by[rank] = mine;
    boolean agrees = meeting.what.equals(what);
    if (!agrees) {
      meetings.remove(name);
      runner.execute(() -> end(meeting, mismatch(meeting, what, name)));
    } else if (++meeting.arrived == communicators.size()) {
      meetings.remove(name);
      runner.execute(() -> meet(meeting, op, root));
    }
    return mine.handle;
  }

  private static CommException mismatch(Meeting meeting, String what, String name) {
    return new CommException.Mismatch(
        "'" + name + "': " + meeting.what + " here, " + what + " there");
  }

  private static void meet(Meeting meeting, @Nullable ReduceOp op, int root) {
    byte[] result =
        op == null
            ? Reference.bytes(meeting.by[root].input)
            : Reference.reduce(List.of(meeting.by).stream().map(Contribution::input).toList(), op);
    for (Contribution contribution : meeting.by) {
      Reference.write(result, contribution.output);
    }
    for (Contribution contribution : meeting.by) {
      contribution.handle.complete(contribution.output);
    }
  }

  private final class Rank implements Communicator {
    private final int rank;

    Rank(int rank) {
      this.rank = rank;
    }

    @Override
    public int rank() {
      return rank;
    }

    @Override
    public Communicator duplicate(String name) {
      throw new UnsupportedOperationException("duplicate of " + this);
    }

    @Override
    public int size() {
      return communicators.size();
    }

    @Override
    public Handle<TensorView> allreduce(AllreduceRequest request) {
      TensorView input = request.input();
      ReduceOp op = request.op();
      Contribution mine =
          new Contribution(input, request.output(), CompletableHandle.of("an operation in memory"));
      return join(rank, input.signature() + " " + op, op, 0, mine, request.name());
    }

    @Override
    public Handle<List<TensorView>> allreduceAll(List<AllreduceRequest> requests) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Handle<TensorView> broadcast(TensorView inOut, int root, CollectiveOptions options) {
      Contribution mine =
          new Contribution(inOut, inOut, CompletableHandle.of("an operation in memory"));
      return join(rank, inOut.signature() + " from " + root, null, root, mine, options.name());
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
      fail(new CommException.Aborted("aborted by rank " + rank + ": " + cause.getMessage(), cause));
    }

    @Override
    public Handle<TensorView> reduceScatter(
        TensorView input, TensorView output, ReduceOp op, CollectiveOptions options) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Handle<TensorLease> allgather(TensorView input, CollectiveOptions options) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Handle<Received> alltoall(
        TensorView input, List<Long> splits, CollectiveOptions options) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Handle<Void> barrier(CollectiveOptions options) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
      fail(new CommException.Aborted("closed by rank " + rank, null));
    }
  }
}
