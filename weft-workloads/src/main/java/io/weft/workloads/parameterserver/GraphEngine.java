// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.comm.CommException;
import io.weft.kv.spec.TableCounts;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.TensorViews;
import io.weft.tensorflow.WeightsDigest;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.session.Fetched;
import io.weft.workloads.batch.Feed;
import io.weft.workloads.checkpoint.History;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.Evaluation;
import io.weft.workloads.training.RankFeed;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.TrainingEngine;
import io.weft.workloads.training.TrainingObserver;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.tensorflow.Tensor;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;
import org.tensorflow.types.TInt64;

/// A worker's part of a model whose variables are on servers, as one graph over all tasks. Confined
/// to one thread. Owns its sessions.
final class GraphEngine implements TrainingEngine, AutoCloseable {

  private final ServedTraining training;
  private final TaskLayout layout;
  private final WorkerShard shard;
  private final WorkerGraph graph;
  private final Replica replica;
  private final GraphSession session;
  private final WorkerSteps steps;
  private final RankFeed feed;
  private final Optional<ServerCheckpoints> checkpoints;
  private final boolean synchronous;
  private History before = History.NONE;
  private int first;
  private long requestsBefore;
  private int epoch;
  private @Nullable GraphSession taking;
  private @Nullable SynchronousUpdates updates;

  /// Opens a session of the graph.
  GraphEngine(ServedTraining training, TaskLayout layout, WorkerShard shard, WorkerGraph graph)
      throws InterruptedException {
    this.training = training;
    this.layout = layout;
    this.shard = shard;
    this.graph = graph;
    this.replica = graph.replica();
    this.session = graph.open();
    this.steps = new WorkerSteps(training.settings(), shard);
    this.feed = new RankFeed(shard.examples(), shard.share());
    this.checkpoints =
        shard.share().rank() == 0
            ? ServerCheckpoints.of(training, replica.memory(), graph.limit())
            : Optional.empty();
    this.synchronous = !(training.settings().sync() instanceof Sync.Asynchronous);
  }

  GraphSession session() {
    return session;
  }

  WorkerSteps steps() {
    return steps;
  }

  @Override
  public long parameters() {
    return replica.parameters();
  }

  /// Initializes the variables on the first worker, with new values or those of a checkpoint; the
  /// other workers wait for it.
  @Override
  public Position restore() throws InterruptedException {
    int epochs = 0;
    if (shard.share().rank() == 0) {
      run(new GraphCall(List.of(), List.of(), List.of(Replica.INIT)), Map.of()).close();
      if (checkpoints.isPresent()) {
        epochs = checkpoints.get().restore(session, shard.columns().steps());
        before = checkpoints.get().history();
      }
    }
    epochs = (int) shard.workers().fromRoot("begin", epochs)[0];
    awaitOthers();
    first = epochs * shard.columns().steps();
    return new Position(epochs, 0);
  }

  /// Waits until all workers know the first step. Otherwise a worker that is lost early would fail
  /// workers that still wait for the broadcast. A worker that knows the first step can train
  /// without a lost worker, unless steps wait for all workers.
  private void awaitOthers() {
    try {
      shard.workers().barrier("begun");
    } catch (CommException.PeerLost lost) {
      if (synchronous) {
        throw lost;
      }
    }
  }

  @Override
  public void begin() throws InterruptedException {
    requestsBefore = session.requests();
    if (!synchronous) {
      return;
    }
    training.weft().onFailure(cause -> abandon(session, cause));
    if (shard.share().rank() == 0) {
      GraphSession updating = graph.open();
      taking = updating;
      training.weft().onFailure(cause -> abandon(updating, cause));
      updates = new SynchronousUpdates(updating, graph, shard.share(), first, steps.count());
      updates.start(checkpoints, session::abandon);
    }
  }

  /// Abandons steps that would wait for a lost worker. Weft's session detects a lost server itself.
  private void abandon(GraphSession of, CommException cause) {
    String why = String.valueOf(cause.getMessage());
    if (!(cause instanceof CommException.PeerLost lost)) {
      of.abandon(why);
    } else if (!layout.isServer(lost.rank()) || training.servers().via() == Servers.Via.GRPC) {
      of.abandon(layout.task(lost.rank()) + " is lost: " + why);
    }
  }

  @Override
  public boolean beginEpoch(int number) {
    epoch = number;
    feed.begin(number);
    return true;
  }

  /// Takes a step. A synchronous step waits for other workers; the first step that they have not
  /// completed is next. One asynchronous step of each worker moves the model as far as one
  /// synchronous step.
  @Override
  public Step step(int step, float rate) throws InterruptedException {
    int number = epoch * shard.columns().steps() + step;
    int batch = shard.columns().batch();
    feed.fill(step);
    float mean = (float) shard.share().size() / batch;
    Map<String, Tensor> feeds = feeds(feed.feeds().getFirst());
    feeds.put(Replica.FACTOR, TFloat32.scalarOf(synchronous ? rate * mean : rate / batch));
    GraphCall call = replica.asynchronousStep();
    if (synchronous) {
      feeds.put(Accumulated.STEP, TInt64.scalarOf(number - first));
      call = replica.synchronousStep(shard.share().rank());
    }
    long begin = System.nanoTime();
    try (Fetched fetched = run(call, feeds)) {
      long taken = System.nanoTime() - begin;
      int next = synchronous ? next(fetched) : number + 1;
      return steps.took(number, ((TFloat32) fetched.get(0)).getFloat(), taken, next);
    } finally {
      feeds.keySet().removeAll(Replica.FEEDS); // the batch belongs to the feed
      feeds.values().forEach(Tensor::close);
    }
  }

  private int next(Fetched step) throws InterruptedException {
    long next = ((TInt64) step.get(1)).getLong();
    for (int left = ((TInt32) step.get(2)).getInt(); left > 0; left--) {
      try (Fetched token = run(StepTokens.more(shard.share().rank()), Map.of())) {
        next = ((TInt64) token.get(0)).getLong();
      }
    }
    return (int) next;
  }

  private static Map<String, Tensor> feeds(Feed batch) {
    Map<String, Tensor> feeds = new HashMap<>();
    feeds.put(Replica.FEEDS.get(0), batch.features());
    feeds.put(Replica.FEEDS.get(1), batch.labels());
    return feeds;
  }

  private Fetched run(GraphCall call, Map<String, ? extends Tensor> feeds)
      throws InterruptedException {
    return session.run(call, feeds, graph.limit());
  }

  @Override
  public Optional<TrainingObserver.TrainedEpoch> endEpoch() {
    return steps.epoch(epoch);
  }

  /// Saves asynchronous training when the first worker ends an epoch, independently of the others.
  /// The thread of the updates saves synchronous training.
  @Override
  public void save() throws InterruptedException {
    if (!synchronous && checkpoints.isPresent()) {
      checkpoints.get().endEpoch(session, steps.means(epoch));
    }
  }

  @Override
  public void finish() throws InterruptedException {
    if (updates != null) {
      updates.await();
    }
  }

  /// Returns the result of this worker.
  WorkerRow row() {
    long requests = requestsBefore < 0 ? -1 : session.requests() - requestsBefore;
    return steps.row(requests, training.weft(), TableCounts.NONE);
  }

  /// Tests the model and returns the result of the training.
  ServedResult result(List<WorkerRow> rows) throws InterruptedException {
    var report = new WorkerReport(training, shard.share(), rows);
    List<Double> own =
        updates == null ? report.losses(first) : Arrays.stream(updates.losses()).boxed().toList();
    long dropped = updates == null ? 0 : report.taken() - Math.round(updates.counted());
    List<Double> losses = Stream.concat(before.losses().stream(), own.stream()).toList();
    return report.result(this, losses, List.of(digest()), steps, dropped);
  }

  @Override
  public Evaluation evaluate(Examples examples) throws InterruptedException {
    return Evaluation.of(
        examples,
        (from, size, scores) -> {
          try (var batch = new Feed(examples, size)) {
            batch.fill(from);
            try (Fetched fetched = run(replica.judgement(), feeds(batch))) {
              if (!replica.results().scores().isEmpty()) {
                scores.accept((TFloat32) fetched.get(1));
              }
              return ((TInt32) fetched.get(0)).getInt();
            }
          }
        });
  }

  @Override
  public String digest() throws InterruptedException {
    var call = new GraphCall(List.of(), replica.results().weights(), List.of());
    try (Fetched fetched = run(call, Map.of())) {
      SortedMap<String, TensorView> weights = new TreeMap<>();
      for (int i = 0; i < fetched.size(); i++) {
        String name = replica.results().weights().get(i);
        weights.put(name.substring(0, name.lastIndexOf(':')), TensorViews.of(fetched.get(i)));
      }
      return WeightsDigest.of(weights);
    }
  }

  @Override
  public void close() {
    feed.close();
    if (taking != null) {
      taking.close();
    }
    session.close();
  }
}
