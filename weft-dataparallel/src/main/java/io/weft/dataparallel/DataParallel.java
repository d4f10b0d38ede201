// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.Weft;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.dataparallel.timeline.Timeline;
import io.weft.gradient.GradientReducer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;

/// Data-parallel training over the communicators of a `Weft`: what optimizers take as the factory
/// of their reducers. Owned; close it on all ranks after their last reduction, and before the
/// `Weft`. Thread-safe.
///
/// Each has names of its own: tensors of two never meet, and neither meets what a program asks of
/// the communicator itself. Ranks match a `DataParallel` by its name, or those without one by the
/// order in which they are first used over a communicator: on one thread, in the same order on all
/// ranks.
///
/// ```java
/// try (Weft weft = Weft.init()) {
///   Reducer reducer = DataParallel.of(weft).over(weft.communicator());
///   reducer.reduce("gradient", tensor).await();
/// }
/// ```
public final class DataParallel implements LayerFactory, AutoCloseable {

  /// Names of duplicates, which end with that of the layer if it has one.
  private static final String OF_JOB = "data-parallel of the job";

  private static final String UNNAMED = "data-parallel";
  private static final String NAMED = "data-parallel named ";

  private final Weft weft;
  private final DataParallelOptions options;
  private final LayerSpans spans;
  private final String duplicate;
  private final LayerSettings settings;
  private final UnnamedLayers unnamed;

  /// Added to under this; removed from by any thread, which must not wait.
  private final Map<Communicator, CommunicatorReducer> reducers = new ConcurrentHashMap<>();

  private boolean closed;

  private DataParallel(
      Weft weft, DataParallelOptions options, LayerSpans spans, String duplicate, String place) {
    this.weft = weft;
    this.options = options;
    this.spans = spans;
    this.duplicate = duplicate;
    this.settings = LayerSettings.of(options, place);
    this.unnamed = weft.attached(UnnamedLayers.class, of -> new UnnamedLayers());
  }

  /// Returns the layer of the job, as the settings of this rank say: the same object at each call,
  /// opened at the first and closed with the `Weft`.
  public static DataParallel of(Weft weft) {
    return weft.attached(
        DataParallel.class,
        of ->
            new DataParallel(of, DataParallelOptions.of(of.config()), LayerSpans.NONE, OF_JOB, ""));
  }

  /// Makes one as the settings of this rank say.
  public static DataParallel over(Weft weft) {
    return over(weft, DataParallelOptions.of(weft.config()));
  }

  /// Makes one with these options.
  public static DataParallel over(Weft weft, DataParallelOptions options) {
    return over(weft, options, LayerSpans.NONE);
  }

  /// Makes one with these options that records into `timeline` how long tensors are negotiated and
  /// queued, copies into and out of fusion buffers, and how long the program waits. The operations
  /// themselves are recorded where the timeline observes the `Weft`.
  public static DataParallel over(Weft weft, DataParallelOptions options, Timeline timeline) {
    return over(weft, options, new LayerSpans(timeline));
  }

  private static DataParallel over(Weft weft, DataParallelOptions options, LayerSpans spans) {
    return options.name().isEmpty()
        ? new DataParallel(weft, options, spans, UNNAMED, caller())
        : new DataParallel(weft, options, spans, NAMED + options.name(), "");
  }

  /// Class and line of the program that makes a layer: where ranks make several in different
  /// orders, they differ.
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

  /// Returns the reducer of this communicator, which must be of this `Weft`: the same object at
  /// each call, until it was restarted. All ranks of the communicator call this. Throws
  /// `IllegalStateException` after `close`, and for a layer without a name where another thread
  /// uses one over this communicator.
  @Override
  public synchronized Reducer over(Communicator communicator) {
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
    return new NegotiatedReducer(own, options, settings, weft::allocate, describe(own), why, spans);
  }

  private IntFunction<String> describe(Communicator communicator) {
    List<Integer> world = communicator.members().ranks();
    return rank -> weft.topology().describe(world.get(rank));
  }

  /// Fails on all ranks what is under way in a reducer that this has made, and lets `over` make a
  /// new one, on all ranks: for a step of which a part has failed and the rest is not submitted by
  /// all. What ranks submit to the new one meets nothing of before. Of no effect where the reducer
  /// has ended for good, as by the loss of a rank, or has been restarted. Each rank calls this for
  /// its own part of the failure. Never blocks.
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

  /// Ends the reducer of this communicator, if there is one, as `close` does; before the
  /// communicator is closed. All its ranks call this. The others' reducers work on.
  public void close(Communicator communicator) {
    Objects.requireNonNull(communicator, "communicator");
    CommunicatorReducer reducer;
    synchronized (this) {
      reducer = reducers.remove(communicator);
    }
    if (reducer != null) {
      close(communicator, reducer);
    }
  }

  private void close(Communicator communicator, CommunicatorReducer reducer) {
    if (duplicate.equals(UNNAMED)) {
      unnamed.close(this, communicator);
    }
    reducer.close();
  }

  /// Returns what is taken for the communicator of all ranks, and why, in words.
  public String describe() {
    return over(weft.communicator()).describe();
  }

  /// Tells the other ranks that this one leaves, so that what they still submit fails; waits for at
  /// most five seconds. What has not ended here fails. A second call has no effect.
  @Override
  public void close() {
    Map<Communicator, CommunicatorReducer> open;
    synchronized (this) {
      closed = true;
      open = new HashMap<>(reducers);
      reducers.clear();
    }
    open.forEach(this::close);
  }
}
