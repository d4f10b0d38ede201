// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.keyvalue;

import io.weft.comm.Handle;
import io.weft.kv.KvTable;
import io.weft.kv.KvWorker;
import io.weft.kv.key.KeyList;
import io.weft.kv.spec.Slicer;
import io.weft.kv.spec.TableSpec;
import io.weft.testkit.sim.SimRank;
import io.weft.transport.limit.ClampedDuration;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.stream.LongStream;

/// One simulated worker. Throws `IllegalStateException` if a sum is not exact, or if another
/// worker's pushes are further behind or ahead than the staleness permits.
final class SimPusher {

  private final SimPushes what;
  private final SimRank self;
  private final KvWorker store;
  private final int worker;
  private final KvTable pairs;

  /// The table in which each worker counts its pushes in a row.
  private final KvTable counts;

  /// A synchronous table. A worker that has pushed to it and pulled knows that all others have
  /// pushed.
  private final KvTable meeting;

  private final KeyList keys;
  private final MemorySegment ones;
  private final long mostPause;

  /// @param ones the values of a push
  SimPusher(SimPushes what, SimRank self, KvWorker store, MemorySegment ones)
      throws InterruptedException {
    this.what = what;
    this.self = self;
    this.store = store;
    this.ones = ones;
    this.worker = self.rank() - what.servers();
    this.pairs =
        store.register(
            TableSpec.rows("pairs", 1)
                .with(what.consistency())
                .with(Slicer.ranges(0, what.lastKey())));
    this.counts = store.register(TableSpec.rows("counts", 1).with(what.consistency()));
    this.meeting = store.register(TableSpec.rows("meeting", 1));
    this.keys = pairs.keys(what.keys());
    this.mostPause = self.random().nextLong(ClampedDuration.nanos(what.pace().pause()) + 1);
  }

  /// The virtual times of the begin and the end of the timed pushes, and the largest number of
  /// clocks by which other workers were behind.
  record Seen(Duration begin, Duration end, long staleness) {}

  Seen run() throws InterruptedException {
    int untimed = what.isAsynchronous() ? 1 : 0;
    for (int i = 0; i < untimed; i++) {
      var unused = pairs.push(keys, ones).await(); // This push also sends the list of keys.
    }
    meet();
    Duration begin = self.now();
    if (what.isAsynchronous()) {
      pushAll();
    } else {
      for (int clock = 1; clock <= what.pushes(); clock++) {
        goOn(clock);
      }
    }
    Duration end = self.now();
    meet();
    if (worker == 0) {
      checkSums((what.pushes() + untimed) * what.workers());
    }
    meet();
    return new Seen(begin, end, store.counts().staleness());
  }

  private void meet() throws InterruptedException {
    long[] key = {0};
    var unusedPush = meeting.push(key, new float[] {1}).await();
    var unusedPull = meeting.pull(key, new float[1]).await();
  }

  private void pushAll() throws InterruptedException {
    ArrayDeque<Handle<Void>> open = new ArrayDeque<>();
    for (int i = 0; i < what.pushes(); i++) {
      pause();
      open.add(pairs.push(keys, ones));
      if (open.size() == what.window()) {
        var unused = open.remove().await();
      }
    }
    while (!open.isEmpty()) {
      var unused = open.remove().await();
    }
  }

  private void goOn(int clock) throws InterruptedException {
    pause();
    Handle<Void> pushed = pairs.push(keys, ones);
    Handle<Void> counted = counts.push(new long[] {worker}, new float[] {1});
    var unusedPairs = pushed.await();
    var unusedCount = counted.await();
    store.clock();
    float[] seen = new float[what.workers()];
    var unused = counts.pull(LongStream.range(0, what.workers()).toArray(), seen).await();
    int staleness = what.consistency().staleness();
    int most = what.consistency().isSynchronous() ? clock : clock + staleness + 1;
    for (int other = 0; other < seen.length; other++) {
      if (seen[other] < clock - staleness || seen[other] > most) {
        throw new IllegalStateException(
            "worker %d at clock %d sees %.0f pushes of worker %d; with staleness %d from %d to %d"
                .formatted(worker, clock, seen[other], other, staleness, clock - staleness, most));
      }
    }
    if (store.counts().staleness() > staleness) {
      throw new IllegalStateException(
          "worker %d at clock %d: a shard reports that a worker is %d clocks behind; at most %d"
              .formatted(worker, clock, store.counts().staleness(), staleness));
    }
  }

  private void pause() {
    if (mostPause > 0) {
      self.compute(Duration.ofNanos(self.random().nextLong(mostPause + 1)));
    }
  }

  private void checkSums(int expected) throws InterruptedException {
    float[] sums = new float[what.pairs()];
    var unused = pairs.pull(keys, MemorySegment.ofArray(sums)).await();
    for (int i = 0; i < sums.length; i++) {
      if (sums[i] != expected) {
        throw new IllegalStateException(
            "pair %d of %d is %.0f after %d pushes".formatted(i, sums.length, sums[i], expected));
      }
    }
  }
}
