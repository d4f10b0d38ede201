// SPDX-License-Identifier: Apache-2.0
package io.weft.bench;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.weft.kv.rule.InitialValues;
import io.weft.kv.rule.UpdateRules;
import io.weft.kv.table.MemoryBudget;
import io.weft.kv.table.Missing;
import io.weft.kv.table.RowList;
import io.weft.kv.table.RowTable;
import io.weft.kv.table.RowTableSpec;
import io.weft.testkit.random.ZipfKeys;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/// Lookups and Adagrad updates of table rows by Zipf keys on one core, compared with the limits of
/// the memory. The comparisons copy the same bytes of rows in known places at the same frequencies,
/// out, or out and back. The unit is rows per second.
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
public class RowTableBenchmark {

  /// The number of rows of one push or pull.
  private static final int BATCH = 4096;

  private static final int BATCHES = 256;

  /// The factor that makes keys large numbers.
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  /// The number of rows of the table. The default table has 1 GiB.
  @Param("2000000")
  public int rows = 1;

  /// The number of values of a row.
  @Param("64")
  public int width = 1;

  /// The exponent of the keys' distribution.
  @Param("1.05")
  public double zipf = 1;

  private final Arena arena = Arena.ofConfined();
  private final RowList list = new RowList();
  private final long[] keys = new long[BATCH];
  private int[] drawn = new int[0];
  private float[] row = new float[0];
  private @Nullable RowTable table;
  private MemorySegment gradients = MemorySegment.NULL;
  private MemorySegment read = MemorySegment.NULL;
  private MemorySegment plain = MemorySegment.NULL;
  private int batch;
  private long step;

  /// For JMH.
  public RowTableBenchmark() {}

  /// Creates all rows.
  @Setup(Level.Trial)
  public void fill() {
    var spec =
        new RowTableSpec(
            "rows",
            width,
            UpdateRules.parse("adagrad:lr=0.01"),
            InitialValues.parse("uniform", width),
            RowTableSpec.RowOptions.DEFAULT);
    RowTable made = new RowTable(spec, new MemoryBudget(Long.MAX_VALUE));
    for (int first = 0; first < rows; first += BATCH) {
      int n = Math.min(BATCH, rows - first);
      for (int i = 0; i < n; i++) {
        keys[i] = (first + i) * SPREAD;
      }
      list.set(keys, n);
      made.resolve(list, Missing.CREATE, 0);
    }
    table = made;
    drawn = ZipfKeys.draw(rows, zipf, BATCH * BATCHES, 1);
    gradients = arena.allocate((long) BATCH * width * Float.BYTES, 64);
    for (int i = 0; i < BATCH * width; i++) {
      gradients.setAtIndex(JAVA_FLOAT, i, (i % 7 - 3) * 0.01f);
    }
    read = arena.allocate((long) BATCH * width * Float.BYTES, 64);
    row = new float[2 * width];
    plain = arena.allocate((long) rows * 2 * width * Float.BYTES, 64);
    plain.fill((byte) 0);
  }

  private int next() {
    batch = (batch + 1) % BATCHES;
    return batch * BATCH;
  }

  private RowTable resolved(Missing missing) {
    int first = next();
    for (int i = 0; i < BATCH; i++) {
      keys[i] = drawn[first + i] * SPREAD;
    }
    list.set(keys, BATCH);
    RowTable rowTable = Objects.requireNonNull(table);
    rowTable.resolve(list, missing, step);
    return rowTable;
  }

  /// Finds rows by key and reads their values.
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void lookup() {
    resolved(Missing.LEAVE).read(list, 0, BATCH, read, 0);
  }

  /// Finds rows by key and applies a gradient to each.
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void update() {
    step++;
    resolved(Missing.CREATE).update(list, 0, BATCH, gradients, 0, step);
  }

  /// Copies the values of rows in known places.
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void memoryOfLookup() {
    int first = next();
    long bytes = (long) width * Float.BYTES;
    for (int i = 0; i < BATCH; i++) {
      MemorySegment.copy(plain, drawn[first + i] * 2L * bytes, read, i * bytes, bytes);
    }
  }

  /// Copies values and slots of rows in known places, out and back.
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public void memoryOfUpdate() {
    int first = next();
    long bytes = 2L * width * Float.BYTES;
    for (int i = 0; i < BATCH; i++) {
      long at = drawn[first + i] * bytes;
      MemorySegment.copy(plain, JAVA_FLOAT, at, row, 0, row.length);
      row[i % row.length] += 1;
      MemorySegment.copy(row, 0, plain, JAVA_FLOAT, at, row.length);
    }
  }

  /// Frees the table.
  @TearDown(Level.Trial)
  public void free() {
    Objects.requireNonNull(table).close();
    arena.close();
  }
}
