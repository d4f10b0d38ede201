// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import io.weft.Weft;
import io.weft.kv.KvTable;
import io.weft.kv.spec.Consistency;
import io.weft.tensorflow.IndexedSlices;
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
/// needs and pushes their gradients; the table is on no worker, and has no size.
///
/// ```java
/// KvTable table = kv.store().register(
///     TableSpec.rows("users", 64).withRule("adagrad:lr=0.05").with(Consistency.asynchronous()));
/// try (var users = WeftEmbedding.of(weft, table)) {
///   Lookup found = users.lookup(tf, ids);       // ids int64 [batch] -> rows float32 [batch, 64]
///   Operand<TFloat32> loss = network(found.rows());
///   Operation push = users.push(tf, users.gradients(tf, loss, found));
///   for (...) {
///     users.prefetch(nextIds);                   // on their way while this step runs
///     session.runner().feed(ids, batch).addTarget(push).fetch(loss).run();
///   }
///   users.flush();
/// }
/// ```
///
/// Equal ids of a lookup or a push are sent once: gradients of the same row are added up first. A
/// step ends while its pushes are on their way; as many as the table's staleness may be (see `of`),
/// then a step waits for its own. What a push fails with after its step, the next op of this
/// embedding fails with, and `flush`.
///
/// Ops are for one run of a graph at a time. Building is not thread-safe, as a graph's scope is
/// not; `prefetch`, `flush` and the counts are.
public final class WeftEmbedding implements AutoCloseable {

  private static final int ASYNCHRONOUS_PUSHES = 4;

  private final EmbeddingRows rows;
  private final EmbeddingLibrary library;
  private final long number;

  private WeftEmbedding(EmbeddingRows rows) {
    this.rows = rows;
    this.library = EmbeddingLibrary.load();
    this.number = library.add(rows);
  }

  /// The rows of a table. Pushes under way while the next step runs: in a table of bounded
  /// staleness as many as that; in a synchronous one 1, whose end the next lookup awaits at the
  /// servers; in an asynchronous one 4. Throws `CommException.Setup` where TensorFlow does not
  /// load.
  ///
  /// @param weft of the worker; borrowed until `close`
  public static WeftEmbedding of(Weft weft, KvTable table) {
    int staleness = table.spec().consistency().staleness();
    int pushes =
        staleness == Consistency.ASYNCHRONOUS ? ASYNCHRONOUS_PUSHES : Math.max(1, staleness);
    return new WeftEmbedding(new EmbeddingRows(weft, table, pushes));
  }

  /// The rows of these ids, which have any shape and may stand several times. Rows that nobody has
  /// pushed to have their initial values.
  public Lookup lookup(Ops tf, Operand<TInt64> ids) {
    Output<TFloat32> raw =
        op(tf, EmbeddingLibrary.LOOKUP, "lookup", List.of(ids.asOutput())).output(0);
    return new Lookup(this, ids, raw, shaped(tf, ids, raw));
  }

  /// As much of the shape as is known when the graph is built: kernels have no shape functions that
  /// know a width.
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

  /// One row for each bag of ids, of shape bags by width.
  ///
  /// @param found of all ids, bag after bag, of shape ids by width
  /// @param offsets where each bag begins in it, ascending: int64 of shape bags
  public static Operand<TFloat32> combine(
      Ops tf, Lookup found, Operand<TInt64> offsets, Combiner combiner) {
    var first = tf.constant(0);
    var one = tf.constant(1L);
    Operand<TInt64> ids = tf.gather(tf.shape(found.ids(), TInt64.class), first, first);
    Operand<TInt64> bags = tf.gather(tf.shape(offsets, TInt64.class), first, first);
    // The bag of an id: how many begin at it or before, less one.
    Operand<TInt64> positions = tf.range(tf.constant(0L), ids, one);
    Operand<TInt64> bagOf =
        tf.math.sub(
            tf.upperBound(
                tf.expandDims(offsets, first), tf.expandDims(positions, first), TInt64.class),
            one);
    return combine(
        tf, found, new Bags(tf.reshape(bagOf, tf.constant(new int[] {-1})), bags), combiner);
  }

  /// The same of a sparse tensor's ids.
  ///
  /// @param found of the sparse tensor's values
  /// @param indices of the sparse tensor, in its canonical order: int64 of shape ids by 2
  /// @param bags the first of its dense shape: a scalar
  public static Operand<TFloat32> combineSparse(
      Ops tf, Lookup found, Operand<TInt64> indices, Operand<TInt64> bags, Combiner combiner) {
    Operand<TInt64> bagOf = tf.gather(indices, tf.constant(0), tf.constant(1));
    return combine(tf, found, new Bags(bagOf, bags), combiner);
  }

  /// @param of each id, its bag; ascending
  /// @param count of the bags: a scalar
  private record Bags(Operand<TInt64> of, Operand<TInt64> count) {}

  private static Operand<TFloat32> combine(Ops tf, Lookup found, Bags bags, Combiner combiner) {
    int width = Math.toIntExact(found.embedding().rows.width());
    var along = tf.constant(0);
    // One bag more, of one row of zeros, so that there are as many sums as bags whatever is empty.
    Operand<TInt64> of = tf.concat(List.of(bags.of(), tf.expandDims(bags.count(), along)), along);
    Operand<TFloat32> all =
        tf.concat(List.of(found.rows(), tf.constant(new float[1][width])), along);
    Operand<TFloat32> sums = segmentSum(tf, all, of);
    Operand<TFloat32> counts = segmentSum(tf, tf.onesLike(tf.dtypes.cast(of, TFloat32.class)), of);
    Operand<TFloat32> atLeastOne =
        tf.expandDims(tf.math.maximum(counts, tf.constant(1f)), tf.constant(1));
    Operand<TFloat32> combined = combiner.weigh(tf, sums, atLeastOne);
    // In 32 bits, as the gradient of Slice in TensorFlow's native registry wants it.
    Operand<TInt32> size =
        tf.stack(List.of(tf.dtypes.cast(bags.count(), TInt32.class), tf.constant(width)));
    return tf.slice(combined, tf.constant(new int[] {0, 0}), size);
  }

  /// TensorFlow Java has the newer op only, which has no gradient in the native registry.
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

  /// The gradients of a loss by the rows that were looked up, as they are pushed: those of all
  /// lookups one behind the other.
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

  /// The same of gradients that the program has: of several losses, or of other variables at once.
  ///
  /// @param gradients by `raw` of each lookup
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
            "a lookup in " + lookups.get(i).embedding().rows + " is no lookup in " + rows);
      }
      ids.add(tf.reshape(lookups.get(i).ids(), tf.constant(new int[] {-1})));
      values.add(tf.reshape(gradients.get(i), tf.constant(new long[] {-1, rows.width()})));
    }
    return ids.size() == 1
        ? new IndexedSlices<>(values.getFirst(), ids.getFirst())
        : new IndexedSlices<>(tf.concat(values, tf.constant(0)), tf.concat(ids, tf.constant(0)));
  }

  /// Pushes gradients, as an op that a step runs as its target. In a synchronous table every worker
  /// pushes once in each step.
  public Operation push(Ops tf, IndexedSlices<TFloat32> gradients) {
    return op(
        tf,
        EmbeddingLibrary.PUSH,
        "push",
        List.of(gradients.indices().asOutput(), gradients.values().asOutput()));
  }

  /// Asks for the rows of the ids of a later step, as an op of this one. See `prefetch(long...)`.
  public Operation prefetch(Ops tf, Operand<TInt64> ids) {
    return op(tf, EmbeddingLibrary.PREFETCH, "prefetch", List.of(ids.asOutput()));
  }

  /// Asks for the rows of the ids of the next step; its lookup of the same ids, in the same order,
  /// takes them. They lack what this step pushes; what they may lack of other workers is what the
  /// table's staleness allows. At most 8 lists are kept, then the oldest is given up. Throws
  /// `IllegalStateException` for a synchronous table.
  public void prefetch(long... ids) throws InterruptedException {
    rows.prefetch(ids);
  }

  /// Waits until all pushes are over, each at most its deadline. Throws the `CommException` that
  /// one has failed with.
  public void flush() throws InterruptedException {
    rows.flush();
  }

  /// The worker's step is over. In a table of bounded staleness this waits for its pushes, as
  /// `flush`; in an asynchronous one for nothing; in a synchronous one a push is the clock, and
  /// this does nothing. Where a program has other tables too, it calls `flush` of each embedding
  /// and then `KeyValueStore.clock` instead.
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

  /// The table.
  public KvTable table() {
    return rows.table();
  }

  /// Pushes so far.
  public long pushes() {
    return rows.pushed();
  }

  /// Pulls so far, those ahead included.
  public long pulls() {
    return rows.pulled();
  }

  /// Lookups whose rows had been asked for ahead.
  public long prefetched() {
    return rows.used();
  }

  /// Gives up what was fetched ahead. Sessions of graphs with its ops are closed before.
  @Override
  public void close() {
    library.remove(number);
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
