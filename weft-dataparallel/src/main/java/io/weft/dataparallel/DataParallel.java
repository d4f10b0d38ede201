// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.Weft;
import io.weft.collective.Communicator;
import io.weft.dataparallel.timeline.Timeline;
import io.weft.gradient.GradientReducer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Data-parallel training over the communicators of a `Weft`: what optimizers take as the factory
/// of their reducers. Owned; close it on all ranks after their last reduction, and before the
/// `Weft`. Thread-safe.
///
/// ```java
/// try (Weft weft = Weft.init();
///     DataParallel parallel = DataParallel.over(weft)) {
///   Reducer reducer = parallel.over(weft.communicator());
///   reducer.reduce("gradient", tensor).await();
/// }
/// ```
public final class DataParallel implements GradientReducer.Factory, AutoCloseable {

  private final Weft weft;
  private final DataParallelOptions options;
  private final LayerSpans spans;

  /// Guarded by this.
  private final Map<Communicator, Reducer> reducers = new HashMap<>();

  private boolean closed;

  private DataParallel(Weft weft, DataParallelOptions options, LayerSpans spans) {
    this.weft = weft;
    this.options = options;
    this.spans = spans;
  }

  /// As the settings of this rank say.
  public static DataParallel over(Weft weft) {
    return over(weft, DataParallelOptions.of(weft.config()));
  }

  /// With these options.
  public static DataParallel over(Weft weft, DataParallelOptions options) {
    return new DataParallel(weft, options, LayerSpans.NONE);
  }

  /// The same, and records into `timeline` how long tensors are negotiated and queued, copies into
  /// and out of fusion buffers, and how long the program waits. The operations themselves are
  /// recorded where the timeline observes the `Weft`.
  public static DataParallel over(Weft weft, DataParallelOptions options, Timeline timeline) {
    return new DataParallel(weft, options, new LayerSpans(timeline));
  }

  /// The reducer of this communicator, which must be of this `Weft`: the same object at each call.
  /// All its ranks call this. Throws `IllegalStateException` after `close`.
  @Override
  public synchronized Reducer over(Communicator communicator) {
    if (closed) {
      throw new IllegalStateException("this DataParallel is closed; make another one");
    }
    return reducers.computeIfAbsent(communicator, this::create);
  }

  private Reducer create(Communicator communicator) {
    return switch (options.fusion()) {
      case OFF -> new DirectReducer(communicator, "fusion is off");
      case AUTO ->
          communicator.sharesMemory()
              ? new DirectReducer(communicator, "all ranks share memory")
              : negotiated(communicator, "ranks do not share memory");
      case ON -> negotiated(communicator, "fusion is on");
    };
  }

  private Reducer negotiated(Communicator communicator, String why) {
    if (communicator.size() == 1) {
      return new DirectReducer(communicator, "there is one rank");
    }
    List<Integer> world = communicator.members().ranks();
    return new NegotiatedReducer(
        communicator,
        options,
        weft::allocate,
        rank -> weft.topology().describe(world.get(rank)),
        why,
        spans);
  }

  /// Ends the reducer of this communicator, if there is one, as `close` does; before the
  /// communicator is closed. All its ranks call this. The others' reducers work on.
  public void close(Communicator communicator) {
    Reducer reducer;
    synchronized (this) {
      reducer = reducers.remove(communicator);
    }
    if (reducer instanceof NegotiatedReducer negotiated) {
      negotiated.close();
    }
  }

  /// What is taken for the communicator of all ranks, and why, in words.
  public String describe() {
    return over(weft.communicator()).describe();
  }

  /// Tells the other ranks that this one leaves, so that what they still submit fails; waits for at
  /// most five seconds. What has not ended here fails. A second call has no effect.
  @Override
  public void close() {
    List<Reducer> open;
    synchronized (this) {
      closed = true;
      open = new ArrayList<>(reducers.values());
      reducers.clear();
    }
    for (Reducer reducer : open) {
      if (reducer instanceof NegotiatedReducer negotiated) {
        negotiated.close();
      }
    }
  }
}
