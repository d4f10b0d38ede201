// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.peer;

import io.weft.perf.kv.KvPlan;
import io.weft.perf.kv.KvPlan.Subject;
import io.weft.perf.kv.KvTraffic;
import io.weft.perf.report.RankPrinter;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/// The measuring loop of a peer. It makes the requests that a worker of Weft makes, times them, and
/// compares all values at the end. After some seconds it stops with the requests made by then.
final class PeerLoop {

  private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final int LEAST = 5;

  private final KvPlan plan;
  private final KvClient client;
  private final KvTraffic traffic;
  private final int width;
  private final float[] values;
  private int sent;

  private PeerLoop(KvPlan plan, KvClient client) {
    this.plan = plan;
    this.client = client;
    this.traffic = new KvTraffic(plan, 0);
    this.width = (int) plan.subject().floats();
    this.values = new float[Math.toIntExact(plan.bytes() / 4)];
    for (int i = 0; i < values.length; i++) {
      values[i] = traffic.value(i);
    }
  }

  /// Runs a plan and prints the report.
  ///
  /// @param name name of the peer
  static void run(String name, KvPlan plan, KvClient client) throws Exception {
    var printer = new RankPrinter(System.out, 0);
    printer.peer(name);
    try {
      new PeerLoop(plan, client).run(printer);
    } finally {
      client.end();
    }
  }

  private void run(RankPrinter printer) throws Exception {
    int chunk = plan.subject().count();
    for (int first = 0; first < traffic.loaded(); first += chunk) {
      long[] keys = rows(first, Math.min(chunk, traffic.loaded() - first));
      client.push(keys, Arrays.copyOf(values, keys.length * width));
      float[] unused = client.await();
    }
    long[] unused = time(plan.warmUp(), new long[1]);
    long[] total = new long[1];
    long[] nanos = time(plan.requests(), total);
    printer.times(KvPlan.CASE, check(), nanos);
    printer.figure("total", (double) total[0]);
    printer.done();
  }

  private long[] time(int requests, long[] total) throws Exception {
    long[] nanos = new long[requests];
    ArrayDeque<Long> begun = new ArrayDeque<>();
    long begin = System.nanoTime();
    int done = 0;
    for (int i = 0; i < requests; i++) {
      begun.add(System.nanoTime());
      send(traffic.keys(sent++));
      if (begun.size() == plan.window()) {
        float[] unused = receive();
        nanos[done++] = System.nanoTime() - begun.remove();
      }
      if (i + 1 >= LEAST && System.nanoTime() - begin > MOST_NANOS) {
        break;
      }
    }
    while (!begun.isEmpty()) {
      float[] unused = receive();
      nanos[done++] = System.nanoTime() - begun.remove();
    }
    total[0] = System.nanoTime() - begin;
    return Arrays.copyOf(nanos, done);
  }

  private void send(long[] keys) throws Exception {
    long[] each = isSparse() ? distinct(keys) : keys;
    if (plan.op().adds()) {
      client.push(each, isSparse() ? added(keys, each) : values);
    }
    if (plan.op() == KvPlan.Op.PUSHPULL || !plan.op().adds()) {
      client.pull(each);
    }
  }

  private float[] receive() throws Exception {
    float[] answer = client.await();
    return plan.op() == KvPlan.Op.PUSHPULL ? client.await() : answer;
  }

  private boolean isSparse() {
    return plan.subject() instanceof Subject.Rows;
  }

  private static long[] distinct(long[] keys) {
    return Arrays.stream(keys).sorted().distinct().toArray();
  }

  /// Returns the sum of the values of each distinct key.
  private float[] added(long[] keys, long[] each) {
    float[] sums = new float[each.length * width];
    for (int i = 0; i < keys.length; i++) {
      int place = Arrays.binarySearch(each, keys[i]) * width;
      for (int column = 0; column < width; column++) {
        sums[place + column] += values[i * width + column];
      }
    }
    return sums;
  }

  private static long[] rows(int first, int count) {
    long[] keys = new long[count];
    for (int i = 0; i < count; i++) {
      keys[i] = KvTraffic.key(first + i);
    }
    Arrays.sort(keys);
    return keys;
  }

  private boolean check() throws Exception {
    if (!isSparse()) {
      client.pull(traffic.keys(0));
      float[] got = client.await();
      for (int i = 0; i < got.length; i++) {
        if (got[i] != traffic.expected(i, sent)) {
          return false;
        }
      }
      return got.length == values.length;
    }
    int[] pushes = KvTraffic.pushesOfRows(plan, sent);
    int chunk = plan.subject().count();
    for (int first = 0; first < pushes.length; first += chunk) {
      int count = Math.min(chunk, pushes.length - first);
      long[] keys = rows(first, count);
      client.pull(keys);
      float[] got = client.await();
      for (int row = first; row < first + count; row++) {
        int place = Arrays.binarySearch(keys, KvTraffic.key(row)) * width;
        if (got[place] != pushes[row] || got[place + width - 1] != pushes[row]) {
          return false;
        }
      }
    }
    return true;
  }
}
