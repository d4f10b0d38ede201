// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.Weft;
import io.weft.agent.Ticker;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.gradient.GradientReducer;
import io.weft.telemetry.timeline.Timeline;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;

/// Data-parallel training over the communicators of a `Weft`. Optimizers take it as the factory of
/// their reducers. A program that creates one by `open` owns it, and must close it on all ranks
/// after their last reduction, before the `Weft`. Thread-safe.
///
/// Each `DataParallel` has a separate name space: its tensors never match those of another
/// `DataParallel`, nor the operations that a program submits to the communicator directly. Ranks
/// match a `DataParallel` by its name, and unnamed ones by the order of their first use over a
/// communicator. These first uses must be on one thread and in the same order on all ranks.
///
/// ```java
/// try (Weft weft = Weft.init()) {
///   Reducer reducer = DataParallel.of(weft).reducer(weft.communicator());
///   reducer.reduce("gradient", tensor).await();
/// }
/// ```
public final class DataParallel implements LayerFactory, AutoCloseable {

  /// Names of the duplicates of communicators. The layer's name, if it has one, is appended.
  private static final String OF_JOB = "data-parallel of the job";

  private static final String UNNAMED = "data-parallel";
  private static final String NAMED = "data-parallel named ";
  private static final long CLOSE_NANOS = 5_000_000_000L;

  private final Weft weft;
  private final DataParallelOptions options;
  private final LayerSpans spans;
  private final String duplicate;
  private final LayerSettings settings;
  private final UnnamedLayers unnamed;

  /// The reducers in use. Additions are made under this object's lock. Any thread may remove one
  /// without the lock, because it must not wait.
  private final Map<Communicator, CommunicatorReducer> reducers = new ConcurrentHashMap<>();

  private boolean closed;

  private DataParallel(
      Weft weft, DataParallelOptions options, LayerSpans spans, String duplicate, String place) {
    this.weft = weft;
    this.options = options;
    this.spans = spans;
    this.duplicate = duplicate;
    this.settings = new LayerSettings(options, place);
    this.unnamed = weft.attached(UnnamedLayers.class, of -> new UnnamedLayers());
  }

  /// Returns the job's layer with the settings of this rank. Each call returns the same object,
  /// which is opened by the first call and closed with the `Weft`.
  public static DataParallel of(Weft weft) {
    return weft.attached(
        DataParallel.class,
        of ->
            new DataParallel(of, DataParallelOptions.of(of.config()), LayerSpans.NONE, OF_JOB, ""));
  }

  /// Creates a layer with the settings of this rank.
  public static DataParallel open(Weft weft) {
    return open(weft, DataParallelOptions.of(weft.config()));
  }

  /// Creates a layer with these options.
  public static DataParallel open(Weft weft, DataParallelOptions options) {
    return open(weft, options, LayerSpans.NONE);
  }

  /// Creates a layer with these options that records into `timeline` the time of negotiation and
  /// queueing, the copies into and out of fusion buffers, and the waits of the program. The
  /// operations themselves are recorded if the timeline observes the `Weft`.
  public static DataParallel open(Weft weft, DataParallelOptions options, Timeline timeline) {
    return open(weft, options, new LayerSpans(timeline));
  }

  private static DataParallel open(Weft weft, DataParallelOptions options, LayerSpans spans) {
    return options.name().isEmpty()
        ? new DataParallel(weft, options, spans, UNNAMED, caller())
        : new DataParallel(weft, options, spans, NAMED + options.name(), "");
  }

  /// Returns the class and line that create a layer. Ranks compare these places, which differ if
  /// they use layers in different orders.
  private static String caller() {
    return StackWalker.getInstance()
        .walk(
            frames ->
                frames
                    .filter(frame -> !frame.getClassName().equals(DataParallel.class.getName()))
                    .findFirst()
                    .map(frame -> frame.getClassName() + ":" + frame.getLineNumber())
                    .orElse(""));
  }

  /// Returns the reducer of this communicator, which must belong to this `Weft`. Each call returns
  /// the same object until the reducer is restarted. All ranks of the communicator must call this.
  /// Throws `IllegalStateException` after `close`, and for an unnamed layer while another thread
  /// has an unnamed layer open over this communicator.
  @Override
  public synchronized Reducer reducer(Communicator communicator) {
    if (closed) {
      throw new IllegalStateException("this DataParallel is closed; make another one");
    }
    CommunicatorReducer known = reducers.get(communicator);
    if (known != null) {
      return known;
    }
    if (duplicate.equals(UNNAMED)) {
      unnamed.open(this, communicator);
    }
    CommunicatorReducer made = create(communicator);
    reducers.put(communicator, made);
    return made;
  }

  @Override
  public DataParallel layer() {
    return this;
  }

  @Override
  public GradientReducer gradients(Reducer reducer) {
    return Objects.requireNonNull(reducer, "reducer");
  }

  private CommunicatorReducer create(Communicator communicator) {
    Communicator own = communicator.duplicate(duplicate);
    return switch (options.fusion()) {
      case OFF -> direct(own, "fusion is off");
      case AUTO -> negotiated(own, "the table of algorithms says which");
      case ON -> negotiated(own, "fusion is on");
    };
  }

  private CommunicatorReducer direct(Communicator own, String why) {
    DirectReducer reducer = new DirectReducer(own, options.deadline(), why);
    if (own.size() > 1) {
      reducer.compare(settings, describe(own));
    }
    return reducer;
  }

  private CommunicatorReducer negotiated(Communicator own, String why) {
    if (own.size() == 1) {
      return direct(own, "there is one rank");
    }
    return new NegotiatedReducer(
        new LayerMembers(own, describe(own)), settings, weft::allocate, why, spans);
  }

  private IntFunction<String> describe(Communicator communicator) {
    List<Integer> world = communicator.members().ranks();
    return rank -> weft.topology().describe(world.get(rank));
  }

  /// Fails the operations in flight of a reducer of this layer, on all ranks, and lets `reducer`
  /// create a new reducer, on all ranks. It serves a step in which a tensor has failed and not all
  /// ranks submit the remaining tensors. Submissions to the new reducer never match earlier ones.
  /// Has no effect if the reducer has ended permanently, for example by the loss of a rank, or has
  /// been restarted already. Each rank calls this with the failure that it has received. Never
  /// blocks.
  public void restart(Communicator communicator, Reducer failed, CommException cause) {
    Objects.requireNonNull(communicator, "communicator");
    Objects.requireNonNull(failed, "failed");
    boolean goesOn =
        switch (cause) {
          case CommException.Mismatch m -> true;
          case CommException.Broken b -> true;
          case CommException.TimedOut t -> true;
          case CommException.Aborted a ->
              failed instanceof CommunicatorReducer own && own.isAborted();
          case CommException.PeerLost p -> false;
          case CommException.Excluded e -> false;
          case CommException.Setup s -> false;
        };
    if (goesOn && failed instanceof CommunicatorReducer own && reducers.remove(communicator, own)) {
      own.abandon(cause);
    }
  }

  /// Closes the reducer of this communicator, if there is one. All ranks of the communicator must
  /// call this before the communicator is closed. Reducers of other communicators remain usable.
  public void close(Communicator communicator) {
    Objects.requireNonNull(communicator, "communicator");
    CommunicatorReducer reducer;
    synchronized (this) {
      reducer = reducers.remove(communicator);
    }
    if (reducer != null) {
      close(Map.of(communicator, reducer), CLOSE_NANOS);
    }
  }

  /// Ends all reducers before it waits for the first one, so that their waits overlap.
  private void close(Map<Communicator, CommunicatorReducer> open, long nanos) {
    long end = Ticker.SYSTEM.nanos() + nanos;
    open.forEach(
        (communicator, reducer) -> {
          if (duplicate.equals(UNNAMED)) {
            unnamed.close(this, communicator);
          }
          reducer.leave();
        });
    open.values().forEach(reducer -> reducer.close(end));
  }

  /// Returns the chosen execution for the communicator of all ranks, and the reason, in words.
  public String describe() {
    return reducer(weft.communicator()).describe();
  }

  /// Notifies the other ranks that this rank leaves, so that their later submissions fail. Waits at
  /// most five seconds. Operations in flight on this rank fail. A second call has no effect.
  @Override
  public void close() {
    close(CLOSE_NANOS);
  }

  /// Closes the layer and waits at most this time for all reducers together.
  void close(long nanos) {
    Map<Communicator, CommunicatorReducer> open;
    synchronized (this) {
      closed = true;
      open = new HashMap<>(reducers);
      reducers.clear();
    }
    close(open, nanos);
  }
}
