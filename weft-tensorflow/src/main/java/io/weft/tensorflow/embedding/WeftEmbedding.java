// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import io.weft.Weft;
import io.weft.kv.KvTable;
import io.weft.kv.spec.Consistency;
import io.weft.tensorflow.IndexedSlices;
import io.weft.tensorflow.ffm.NumberedOps;
import java.util.ArrayList;
import java.util.List;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Operation;
import org.tensorflow.Output;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;
import org.tensorflow.types.TInt64;

/// A table of a parameter server as ops inside a graph. A worker looks up the rows that a batch
/// needs and pushes their gradients. No worker stores the table, and the table has no fixed size.
///
/// ```java
/// KvTable table = kv.worker().register(
///     TableSpec.rows("users", 64).withRule("adagrad:lr=0.05").with(Consistency.asynchronous()));
/// try (var users = WeftEmbedding.of(weft, table)) {
///   Lookup found = users.lookup(tf, ids);       // ids int64 [batch] -> rows float32 [batch, 64]
///   Operand<TFloat32> loss = network(found.rows());
///   Operation push = users.push(tf, users.gradients(tf, loss, found));
///   for (...) {
///     users.prefetch(nextIds);                   // arrive while this step runs
///     session.runner().feed(ids, batch).addTarget(push).fetch(loss).run();
///   }
///   users.flush();
/// }
/// ```
///
/// Equal ids of a lookup or a push are sent once; gradients of one row are added first. A step may
/// end while its pushes are in flight. The table's staleness limits their number (see `of`); at the
/// limit, a step waits for its push. If a push fails after its step, the next op of this embedding
/// and `flush` fail with its failure.
///
/// Ops support one run of a graph at a time. Building is not thread-safe, like a graph's scope;
/// `prefetch`, `flush` and the counts are thread-safe.
public final class WeftEmbedding implements AutoCloseable {

  private static final int ASYNCHRONOUS_PUSHES = 4;

  private final EmbeddingRows rows;
  private final NumberedOps<EmbeddingRows> ops;
  private final long number;

  /// The numbers of the groups that have this embedding as the first one.
  private final List<Long> groups = new ArrayList<>();

  private WeftEmbedding(EmbeddingRows rows) {
    this.rows = rows;
    this.ops = EmbeddingLibrary.load();
    this.number = ops.add(rows);
  }

  /// Creates the embedding of a table. The consistency limits the pushes under way during the next
  /// step: to the staleness for bounded staleness, and to 4 for an asynchronous table. For a
  /// synchronous table the limit is 1, and the servers delay the next lookup until that push has
  /// ended. Throws `CommException.Setup` if TensorFlow does not load.
  ///
  /// @param weft of the worker; borrowed until `close`
  public static WeftEmbedding of(Weft weft, KvTable table) {
    int staleness = table.spec().consistency().staleness();
    int pushes =
        staleness == Consistency.ASYNCHRONOUS ? ASYNCHRONOUS_PUSHES : Math.max(1, staleness);
    return new WeftEmbedding(new EmbeddingRows(weft, table, pushes));
  }

  /// Looks up the rows of these ids, which may have any shape and contain duplicates. Rows without
  /// a push have their initial values.
  public Lookup lookup(Ops tf, Operand<TInt64> ids) {
    Output<TFloat32> raw =
        op(tf, EmbeddingLibrary.LOOKUP, "lookup", List.of(ids.asOutput())).output(0);
    return new Lookup(this, ids, raw, shaped(tf, ids, raw));
  }

  /// Looks up rows in several embeddings of one worker by one op, which sends one request for each
  /// shard instead of one for each table and shard. Otherwise equal to a `lookup` in each, but
  /// prefetched rows are not used. Sessions of graphs with the op must be closed before the first
  /// embedding is. Throws `IllegalArgumentException` unless there are ids for each embedding.
  public static List<Lookup> lookupAll(
      Ops tf, List<WeftEmbedding> embeddings, List<? extends Operand<TInt64>> ids) {
    if (embeddings.isEmpty() || embeddings.size() != ids.size()) {
      throw new IllegalArgumentException(
          "a lookup in %d embeddings of %d operands of ids"
              .formatted(embeddings.size(), ids.size()));
    }
    WeftEmbedding first = embeddings.getFirst();
    long group = EmbeddingLibrary.loadGroups().add(embeddings.stream().map(it -> it.rows).toList());
    first.groups.add(group);
    Operation op =
        tf.scope()
            .env()
            .opBuilder(EmbeddingLibrary.LOOKUP_ALL, tf.scope().makeOpName("lookup_all"), tf.scope())
            .addInputList(ids.stream().map(Operand::asOutput).toArray(Output<?>[]::new))
            .setAttr(EmbeddingLibrary.GROUP, group)
            .build();
    List<Lookup> found = new ArrayList<>();
    for (int i = 0; i < embeddings.size(); i++) {
      WeftEmbedding each = embeddings.get(i);
      Output<TFloat32> raw = op.output(i);
      found.add(new Lookup(each, ids.get(i), raw, each.shaped(tf, ids.get(i), raw)));
    }
    return List.copyOf(found);
  }

  /// Sets the shape as far as it is known when the graph is built, because the kernels' shape
  /// functions do not know the width.
  private Operand<TFloat32> shaped(Ops tf, Operand<TInt64> ids, Output<TFloat32> raw) {
    Shape known = ids.asOutput().shape();
    if (known.isUnknown()) {
      return raw;
    }
    long[] extents = new long[known.numDimensions() + 1];
    int unknown = 0;
    for (int i = 0; i < known.numDimensions(); i++) {
      extents[i] = known.get(i);
      unknown += extents[i] == Shape.UNKNOWN_SIZE ? 1 : 0;
    }
    extents[extents.length - 1] = rows.width();
    return unknown > 1 ? raw : tf.reshape(raw, tf.constant(extents));
  }

  /// Combines the rows of each bag of ids into one row; the result has shape bags by width.
  ///
  /// @param found the lookup of all ids, bag after bag, of shape ids by width
  /// @param offsets the start of each bag among the ids, ascending: int64 of shape bags
  public static Operand<TFloat32> combine(
      Ops tf, Lookup found, Operand<TInt64> offsets, Combiner combiner) {
    return combine(tf, found, offsets, BagOptions.of(combiner));
  }

  /// Combines the rows of each bag of ids, as `combine` with a combiner does.
  public static Operand<TFloat32> combine(
      Ops tf, Lookup found, Operand<TInt64> offsets, BagOptions options) {
    var first = tf.constant(0);
    var one = tf.constant(1L);
    Operand<TInt64> ids = tf.gather(tf.shape(found.ids(), TInt64.class), first, first);
    Operand<TInt64> bags = tf.gather(tf.shape(offsets, TInt64.class), first, first);
    // The bag of an id: the number of bags that begin at or before it, minus one.
    Operand<TInt64> positions = tf.range(tf.constant(0L), ids, one);
    Operand<TInt64> bagOf =
        tf.math.sub(
            tf.upperBound(
                tf.expandDims(offsets, first), tf.expandDims(positions, first), TInt64.class),
            one);
    return combine(
        tf, found, new Bags(tf.reshape(bagOf, tf.constant(new int[] {-1})), bags), options);
  }

  /// Combines the rows of a sparse tensor's ids into one row per bag.
  ///
  /// @param found the lookup of the sparse tensor's values
  /// @param indices of the sparse tensor, in its canonical order: int64 of shape ids by 2
  /// @param bags the first extent of its dense shape: a scalar
  public static Operand<TFloat32> combineSparse(
      Ops tf, Lookup found, Operand<TInt64> indices, Operand<TInt64> bags, Combiner combiner) {
    return combineSparse(tf, found, indices, bags, BagOptions.of(combiner));
  }

  /// Combines the rows of a sparse tensor's ids, as `combineSparse` with a combiner does.
  public static Operand<TFloat32> combineSparse(
      Ops tf, Lookup found, Operand<TInt64> indices, Operand<TInt64> bags, BagOptions options) {
    Operand<TInt64> bagOf = tf.gather(indices, tf.constant(0), tf.constant(1));
    return combine(tf, found, new Bags(bagOf, bags), options);
  }

  /// @param of the bag of each id; ascending
  /// @param count the number of bags: a scalar
  private record Bags(Operand<TInt64> of, Operand<TInt64> count) {}

  private static Operand<TFloat32> combine(Ops tf, Lookup found, Bags bags, BagOptions options) {
    int width = Math.toIntExact(found.embedding().rows.width());
    var along = tf.constant(0);
    var column = tf.constant(1);
    // An additional bag with one row of zeros, so that trailing empty bags get sums too.
    Operand<TInt64> of = tf.concat(List.of(bags.of(), tf.expandDims(bags.count(), along)), along);
    Operand<TFloat32> weights =
        tf.concat(
            List.of(
                options
                    .weights()
                    .orElseGet(() -> tf.onesLike(tf.dtypes.cast(bags.of(), TFloat32.class))),
                tf.constant(new float[1])),
            along);
    Operand<TFloat32> all =
        tf.concat(
            List.of(options.limited(tf, found.rows()), tf.constant(new float[1][width])), along);
    Operand<TFloat32> sums = segmentSum(tf, tf.math.mul(all, tf.expandDims(weights, column)), of);
    Operand<TFloat32> totals = segmentSum(tf, options.combiner().shares(tf, weights), of);
    Operand<TFloat32> divisors =
        options
            .combiner()
            .divisor(
                tf,
                tf.select(
                    tf.math.equal(totals, tf.zerosLike(totals)), tf.onesLike(totals), totals));
    Operand<TFloat32> combined = tf.math.div(sums, tf.expandDims(divisors, column));
    // In 32 bits, as the gradient of Slice in TensorFlow's native registry requires.
    Operand<TInt32> size =
        tf.stack(List.of(tf.dtypes.cast(bags.count(), TInt32.class), tf.constant(width)));
    return tf.slice(combined, tf.constant(new int[] {0, 0}), size);
  }

  /// Adds `SegmentSum`. TensorFlow Java has only the newer op, which has no native gradient.
  private static Operand<TFloat32> segmentSum(
      Ops tf, Operand<TFloat32> rows, Operand<TInt64> segments) {
    Output<TFloat32> sums =
        tf.scope()
            .opBuilder("SegmentSum", "bags")
            .addInput(rows.asOutput())
            .addInput(segments.asOutput())
            .build()
            .output(0);
    return sums;
  }

  /// Returns the gradients of a loss with respect to the looked-up rows of all lookups,
  /// concatenated, in the form that `push` takes.
  ///
  /// @param loss a scalar
  /// @param lookups of this embedding, at least one
  public IndexedSlices<TFloat32> gradients(Ops tf, Operand<TFloat32> loss, Lookup... lookups) {
    Output<?>[] by = new Output<?>[lookups.length];
    for (int i = 0; i < by.length; i++) {
      by[i] = lookups[i].raw();
    }
    Graph graph = (Graph) tf.scope().env();
    Output<?>[] gradients = graph.addGradients(loss.asOutput(), by);
    List<Output<TFloat32>> all = new ArrayList<>();
    for (Output<?> each : gradients) {
      all.add(each.expect(TFloat32.class));
    }
    return slices(tf, List.of(lookups), all);
  }

  /// Returns, in the form that `push` takes, gradients that the program computed itself, for
  /// example of several losses or together with those of other variables.
  ///
  /// @param gradients the gradients with respect to `raw` of each lookup
  public IndexedSlices<TFloat32> slices(
      Ops tf, List<Lookup> lookups, List<? extends Operand<TFloat32>> gradients) {
    if (lookups.isEmpty() || lookups.size() != gradients.size()) {
      throw new IllegalArgumentException(
          "%d lookups and %d gradients in %s".formatted(lookups.size(), gradients.size(), rows));
    }
    List<Operand<TInt64>> ids = new ArrayList<>();
    List<Operand<TFloat32>> values = new ArrayList<>();
    for (int i = 0; i < lookups.size(); i++) {
      if (lookups.get(i).embedding() != this) {
        throw new IllegalArgumentException(
            "a lookup in " + lookups.get(i).embedding().rows + " is not a lookup in " + rows);
      }
      ids.add(tf.reshape(lookups.get(i).ids(), tf.constant(new int[] {-1})));
      values.add(tf.reshape(gradients.get(i), tf.constant(new long[] {-1, rows.width()})));
    }
    return ids.size() == 1
        ? new IndexedSlices<>(values.getFirst(), ids.getFirst())
        : new IndexedSlices<>(tf.concat(values, tf.constant(0)), tf.concat(ids, tf.constant(0)));
  }

  /// Adds an op that pushes gradients, which a step runs as its target. On a synchronous table
  /// every worker must push once in each step.
  public Operation push(Ops tf, IndexedSlices<TFloat32> gradients) {
    return op(
        tf,
        EmbeddingLibrary.PUSH,
        "push",
        List.of(gradients.indices().asOutput(), gradients.values().asOutput()));
  }

  /// Adds an op that requests the rows of a later step's ids. See `prefetch(long...)`.
  public Operation prefetch(Ops tf, Operand<TInt64> ids) {
    return op(tf, EmbeddingLibrary.PREFETCH, "prefetch", List.of(ids.asOutput()));
  }

  /// Requests the rows of the next step's ids. That step's lookup of equal ids in equal order takes
  /// them. They do not include this step's pushes, and may miss pushes of other workers within the
  /// table's staleness. At most 8 lists are kept; a further list replaces the oldest. Throws
  /// `IllegalStateException` for a synchronous table.
  public void prefetch(long... ids) throws InterruptedException {
    rows.prefetch(ids);
  }

  /// Waits until all pushes have ended, for at most the deadline of each. Throws the
  /// `CommException` of a failed push.
  public void flush() throws InterruptedException {
    rows.flush();
  }

  /// Ends the worker's step. On a table of bounded staleness it first waits for the pushes, like
  /// `flush`. On an asynchronous table it does not wait for pushes. On a synchronous table it does
  /// nothing, because a push is the clock. A program with other tables instead calls `flush` of
  /// each embedding and then `KvWorker.clock`.
  public void clock() throws InterruptedException {
    Consistency consistency = rows.table().spec().consistency();
    if (consistency.isSynchronous()) {
      return;
    }
    if (consistency.staleness() > 0) {
      rows.flush();
    }
    var unused = rows.table().clock().await();
  }

  /// Returns the table.
  public KvTable table() {
    return rows.table();
  }

  /// Returns the number of pushes.
  public long pushes() {
    return rows.pushed();
  }

  /// Returns the number of pulls, including prefetches.
  public long pulls() {
    return rows.pulled();
  }

  /// Returns the number of lookups that used prefetched rows.
  public long prefetched() {
    return rows.used();
  }

  /// Discards the prefetched rows. Sessions of graphs with its ops must be closed first.
  @Override
  public void close() {
    ops.remove(number);
    groups.forEach(each -> EmbeddingLibrary.loadGroups().remove(each));
    rows.close();
  }

  private Operation op(Ops tf, String type, String verb, List<Output<?>> inputs) {
    String node =
        tf.scope()
            .makeOpName(rows.table().spec().name().replaceAll("[^A-Za-z0-9_.]", "_") + "_" + verb);
    var builder = tf.scope().env().opBuilder(type, node, tf.scope());
    inputs.forEach(builder::addInput);
    return builder.setAttr(EmbeddingLibrary.TABLE, number).build();
  }
}
