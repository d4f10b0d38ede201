// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.rows;

import io.weft.WeftConfig;
import io.weft.kv.Checkpoint;
import io.weft.kv.CheckpointOptions;
import io.weft.kv.KvConfig;
import io.weft.kv.KvNode;
import io.weft.kv.KvOptions;
import io.weft.kv.KvTable;
import io.weft.kv.KvWorker;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.Retention;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.spec.TableStatistics;
import io.weft.testkit.job.LocalJob;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// `ManyRows DIRECTORY [ROWS [WIDTH]]` inserts rows into a table with Adagrad, looks all of them
/// up, saves them, restores them in another job, compares all again, and evicts all but few. It
/// prints the time of each part and the memory of a row. It exits with 0 for correct results, 1 for
/// an error, 2 for wrong arguments.
public final class ManyRows {

  private static final int CHUNK = 50_000;
  private static final long SPREAD = 0x9e3779b97f4a7c15L;

  /// The number of different gradients. Row r has gradient r modulo this number.
  private static final int KINDS = 8;

  private final PrintStream out;
  private final Path directory;
  private final int rows;
  private final int width;
  private final float[][] expected = new float[KINDS][];
  private boolean wrong;

  private ManyRows(PrintStream out, Path directory, int rows, int width) {
    this.out = out;
    this.directory = directory;
    this.rows = rows;
    this.width = width;
  }

  /// Runs the program, see the class.
  public static void main(String[] words) {
    int rows = number(words, 1, 10_000_000);
    int width = number(words, 2, 16);
    if (words.length < 1 || rows < CHUNK || width < 1) {
      System.err.println("usage: ManyRows DIRECTORY [ROWS, at least 50000 [WIDTH]]");
      System.exit(2);
    }
    System.exit(new ManyRows(System.out, Path.of(words[0]), rows, width).run() ? 0 : 1);
  }

  private static int number(String[] words, int at, int usual) {
    try {
      return words.length <= at ? usual : Integer.parseInt(words[at]);
    } catch (NumberFormatException wrong) {
      return -1;
    }
  }

  private boolean run() {
    inJob(this::fill);
    inJob(this::restore);
    out.println(wrong ? "WRONG" : "all rows are correct");
    return !wrong;
  }

  /// The work of the only worker.
  @FunctionalInterface
  private interface Body {
    void run(KvWorker worker) throws InterruptedException, IOException;
  }

  private static void inJob(Body body) {
    WeftConfig config =
        WeftConfig.builder()
            .transport("inproc")
            .deadline(Duration.ofMinutes(10))
            .set(KvConfig.MEMORY, "16G")
            .build();
    KvOptions options = KvOptions.servers(1);
    try (LocalJob job = LocalJob.start(2, config)) {
      List<KvNode> members = job.ranks().stream().map(it -> KvNode.open(it, options)).toList();
      var unused =
          job.run(
              weft -> {
                if (weft.rank() == 1) {
                  body.run(members.get(1).worker());
                }
                return true;
              });
      members.forEach(KvNode::close);
    }
  }

  private KvTable register(KvWorker worker, String name) throws InterruptedException {
    long pushes = rows / CHUNK + 100L;
    return worker.register(
        TableSpec.rows(name, width)
            .withRule("adagrad:lr=0.125")
            .with(Consistency.asynchronous())
            .with(Retention.ALL.evictedAfter(pushes)));
  }

  private static long[] keys(int first, int count) {
    long[] keys = new long[count];
    for (int i = 0; i < count; i++) {
      keys[i] = (first + i + 1) * SPREAD;
    }
    return keys;
  }

  private float[] gradients(int first, int count) {
    float[] values = new float[count * width];
    for (int i = 0; i < values.length; i++) {
      values[i] = (first + i / width) % KINDS + 1;
    }
    return values;
  }

  private void fill(KvWorker worker) throws InterruptedException, IOException {
    KvTable model = register(worker, "model");
    model.push(keys(0, KINDS), gradients(0, KINDS)).await();
    for (int kind = 0; kind < KINDS; kind++) {
      expected[kind] = new float[width];
      model.pull(keys(kind, 1), expected[kind]).await();
    }
    KvTable table = register(worker, "rows");
    long begin = System.nanoTime();
    for (int first = 0; first < rows; first += CHUNK) {
      int count = Math.min(CHUNK, rows - first);
      table.push(keys(first, count), gradients(first, count)).await();
    }
    tell("inserted", begin, rows);
    compare(table);
    TableStatistics full = table.statistics().await();
    long payload = 4L * 2 * width;
    out.printf(
        Locale.ROOT,
        "%d rows of %d floats and slots: %.1f bytes a row, %.2f times payload and slots%n",
        full.rows(),
        width,
        full.bytesPerRow(),
        full.bytesPerRow() / payload);
    wrong |= full.rows() != rows;
    begin = System.nanoTime();
    Checkpoint saved = worker.checkpoint(options());
    tell("saved as " + saved.path(), begin, rows);
    begin = System.nanoTime();
    int pushes = 2 * (rows / CHUNK) + 200;
    for (int i = 0; i < pushes; i++) {
      table.push(keys(0, CHUNK), gradients(0, CHUNK)).await();
    }
    TableStatistics left = table.statistics().await();
    tell("evicted " + left.evicted() + " of them, " + left.rows() + " left", begin, rows);
    wrong |= left.rows() != CHUNK;
  }

  private CheckpointOptions options() {
    return CheckpointOptions.in(directory).within(Duration.ofMinutes(10));
  }

  private void restore(KvWorker worker) throws InterruptedException, IOException {
    KvTable unused = register(worker, "model");
    KvTable table = register(worker, "rows");
    long begin = System.nanoTime();
    Optional<Checkpoint> restored = worker.restore(options());
    wrong |= restored.isEmpty();
    tell("restored", begin, rows);
    compare(table);
  }

  private void compare(KvTable table) throws InterruptedException {
    long begin = System.nanoTime();
    float[] pulled = new float[CHUNK * width];
    for (int first = 0; first < rows; first += CHUNK) {
      int count = Math.min(CHUNK, rows - first);
      float[] place = count == CHUNK ? pulled : new float[count * width];
      table.pull(keys(first, count), place).await();
      for (int i = 0; i < place.length; i++) {
        wrong |= place[i] != expected[(first + i / width) % KINDS][i % width];
      }
    }
    tell("looked up and compared", begin, rows);
  }

  private void tell(String what, long begin, int count) {
    double seconds = (System.nanoTime() - begin) / (double) TimeUnit.SECONDS.toNanos(1);
    out.printf(
        Locale.ROOT,
        "%s: %.1f s, %.2f million rows a second%n",
        what,
        seconds,
        count / seconds / 1e6);
    out.flush();
  }
}
