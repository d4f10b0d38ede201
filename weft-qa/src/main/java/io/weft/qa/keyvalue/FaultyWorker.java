// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.keyvalue;

import io.weft.comm.Handle;
import io.weft.kv.KvTable;
import io.weft.kv.KvWorker;
import io.weft.kv.function.KvChange;
import io.weft.kv.function.KvChanges;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import io.weft.testkit.sim.SimRank;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/// One worker of a job with faults. It increments, inserts and removes rows, and compares the rows
/// that it pulls with the model. Throws `IllegalStateException` for a wrong row.
final class FaultyWorker {

  private static final int MOST_PUSHES = 4;
  private static final int MOST_ROWS = 5;
  private static final long MOST_PAUSE = 16_000_000;
  private static final int EDITED = 40;
  private static final int EDITED_AT_ONCE = 12;

  private final FaultyJob job;
  private final SimRank self;
  private final KvWorker store;
  private final Counts counts;
  private final int worker;
  private final int width;
  private final List<Handle<Void>> open = new ArrayList<>();
  private final List<long[]> pushed = new ArrayList<>();

  /// The rows that this worker has inserted into its own table; 0 for a row that it has removed.
  private final float[] edited = new float[EDITED];

  private int pushes;
  private int changes;
  private int rounds;

  /// The models of a job's tables.
  ///
  /// @param rows of the asynchronous table
  /// @param rounds of the synchronous table, which has a row for each worker
  record Counts(FaultyJobModel rows, FaultyJobModel rounds) {}

  FaultyWorker(FaultyJob job, SimRank self, KvWorker store, Counts counts) {
    this.job = job;
    this.self = self;
    this.store = store;
    this.counts = counts;
    this.worker = self.rank() - job.servers();
    this.width = job.content().width();
  }

  /// Returns the number of pushes.
  int run() throws InterruptedException {
    Consistency asynchronous = Consistency.asynchronous();
    KvTable rows = store.register(TableSpec.rows("rows", width).with(asynchronous));
    KvTable meeting = store.register(TableSpec.rows("rounds", 1));
    KvTable changed = store.register(TableSpec.rows("changed " + worker, 1).with(asynchronous));
    KvTable ones = store.register(TableSpec.rows("ones " + worker, 1).with(asynchronous));
    KvTable mine = store.register(TableSpec.rows("edited " + worker, 1).with(asynchronous));
    KvChange addOnes = KvChanges.axpy(1, ones.spec().name());
    long[] own = {1, 2, 3, 4, 5, 6, 7};
    var unused = ones.push(own, ones(own.length)).await();
    idleRows();
    while (self.now().compareTo(job.end()) < 0) {
      for (int i = self.random().nextInt(MOST_PUSHES); i >= 0; i--) {
        push(rows);
      }
      if (self.random().nextInt(4) == 0) {
        changes++;
        open.add(changed.change(addOnes));
        pushed.add(new long[0]);
      }
      if (self.random().nextInt(4) == 0) {
        edit(mine);
      }
      acknowledge();
      if (job.content().isSynchronous()) {
        meet(meeting);
      }
      if (self.random().nextInt(3) == 0) {
        check(rows);
      }
      self.compute(Duration.ofNanos(self.random().nextLong(MOST_PAUSE)));
    }
    check(rows);
    float[] sums = new float[own.length];
    var unusedPull = changed.pull(own, sums).await();
    for (float sum : sums) {
      if (sum != changes) {
        throw new IllegalStateException(
            "worker %d: rows were changed %s times, expected %d".formatted(worker, sum, changes));
      }
    }
    return pushes;
  }

  private static float[] ones(int count) {
    float[] ones = new float[count];
    Arrays.fill(ones, 1);
    return ones;
  }

  /// Pushes the rows that prolong the copies.
  private void idleRows() throws InterruptedException {
    int count = job.content().idleRows();
    if (worker == 0 && count > 0) {
      KvTable idle = store.register(TableSpec.rows("idle", 8).with(Consistency.asynchronous()));
      long[] keys = LongStream.range(0, count).toArray();
      var unused = idle.push(keys, ones(8 * count)).await();
    }
  }

  private void push(KvTable table) throws InterruptedException {
    long[] keys =
        self.random()
            .longs(1 + self.random().nextInt(MOST_ROWS), 0, job.content().rows())
            .distinct()
            .toArray();
    counts.rows().begin(keys);
    pushes++;
    if (self.random().nextInt(8) == 0) {
      int[] least = counts.rows().acknowledged(keys);
      float[] sums = new float[width * keys.length];
      var unused = table.pushPull(keys, ones(sums.length), sums).await();
      counts.rows().acknowledge(keys);
      Arrays.setAll(least, i -> least[i] + 1);
      counts.rows().check("worker " + worker, keys, least, sums, width);
    } else {
      open.add(table.push(table.keys(keys), MemorySegment.ofArray(ones(width * keys.length))));
      pushed.add(keys);
    }
  }

  /// Inserts or removes rows of this worker's table, and checks all of them.
  private void edit(KvTable table) throws InterruptedException {
    int first = self.random().nextInt(EDITED - EDITED_AT_ONCE);
    long[] keys = LongStream.range(first, first + EDITED_AT_ONCE).toArray();
    boolean inserts = self.random().nextBoolean();
    float value = inserts ? 1 + self.random().nextInt(1000) : 0;
    Arrays.fill(edited, first, first + EDITED_AT_ONCE, value);
    float[] values = Arrays.copyOfRange(edited, first, first + EDITED_AT_ONCE);
    var unusedEdit = inserts ? table.insert(keys, values).await() : table.remove(keys).await();
    float[] rows = new float[EDITED];
    var unusedPull = table.pull(LongStream.range(0, EDITED).toArray(), rows).await();
    if (!Arrays.equals(rows, edited)) {
      throw new IllegalStateException(
          "worker %d: the rows that it has inserted are %s, expected %s"
              .formatted(worker, Arrays.toString(rows), Arrays.toString(edited)));
    }
  }

  private void acknowledge() throws InterruptedException {
    for (int i = 0; i < open.size(); i++) {
      var unused = open.get(i).await();
      counts.rows().acknowledge(pushed.get(i));
    }
    open.clear();
    pushed.clear();
  }

  private void check(KvTable table) throws InterruptedException {
    long[] keys = LongStream.range(0, job.content().rows()).toArray();
    int[] least = counts.rows().acknowledged(keys);
    float[] sums = new float[width * keys.length];
    var unused = table.pull(keys, sums).await();
    counts.rows().check("worker " + worker, keys, least, sums, width);
  }

  /// Pushes to the row of this worker at the next clock, and checks that the pull of this clock has
  /// exactly its pushes.
  private void meet(KvTable table) throws InterruptedException {
    long[] mine = {worker};
    rounds++;
    counts.rounds().begin(mine);
    var unusedPush = table.push(mine, new float[] {1}).await();
    counts.rounds().acknowledge(mine);
    long[] all = LongStream.range(0, job.workers()).toArray();
    int[] least = counts.rounds().acknowledged(all);
    Arrays.setAll(least, i -> Math.min(least[i], rounds));
    float[] sums = new float[all.length];
    var unusedPull = table.pull(all, sums).await();
    counts.rounds().check("worker " + worker + " at clock " + rounds, all, least, sums, 1);
    for (float sum : sums) {
      if (sum > rounds) {
        throw new IllegalStateException(
            "worker %d at clock %d sees a push of clock %s".formatted(worker, rounds, sum));
      }
    }
  }
}
