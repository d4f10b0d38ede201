// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.weft.Weft;
import io.weft.comm.Handle;
import io.weft.kv.KeyValue;
import io.weft.kv.KeyValueStore;
import io.weft.kv.KvOptions;
import io.weft.kv.KvServer;
import io.weft.kv.KvTable;
import io.weft.kv.key.KeyList;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.Slicer;
import io.weft.kv.spec.TableSpec;
import io.weft.perf.rank.RankMaximum;
import io.weft.perf.rank.RankProgram;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/// One rank of a measurement of the parameter server: a server serves until the workers have left;
/// the first worker prints what `KvFigure` reads. All values are compared at the end, by each
/// worker.
public final class KvRank {

  private static final Duration LONGEST = Duration.ofHours(1);

  /// Apart, so that the keys are no range.
  private static final long STRIDE = 7;

  /// What is pushed for a key repeats after so many: sums of small whole numbers are exact.
  private static final int PATTERN = 16;

  private final Weft weft;
  private final KvPlan plan;
  private final KeyValueStore store;
  private final KvTable table;
  private final KeyList keys;

  private KvRank(Weft weft, KvPlan plan, KeyValueStore store) throws InterruptedException {
    this.weft = weft;
    this.plan = plan;
    this.store = store;
    this.table =
        store.register(
            TableSpec.rows("perf", plan.width())
                .with(Consistency.asynchronous())
                .with(Slicer.ranges(0, STRIDE * (plan.keys() - 1))));
    this.keys = table.keys(LongStream.range(0, plan.keys()).map(it -> it * STRIDE).toArray());
  }

  /// Takes the plan's words. Ends with 0, 1 if the job failed, 2 for wrong arguments.
  public static void main(String[] words) {
    RankProgram program = KvRank::measure;
    System.exit(program.run(words, System.out, System.err));
  }

  private static void measure(List<String> words, PrintStream out, PrintStream err)
      throws InterruptedException {
    KvPlan plan = KvPlan.parse(words);
    try (Weft weft = Weft.init();
        KeyValue kv = KeyValue.over(weft, KvOptions.servers(plan.servers()))) {
      Optional<KvServer> server = kv.server();
      if (server.isPresent()) {
        boolean unused = server.get().join(LONGEST);
        return;
      }
      new KvRank(weft, plan, kv.store()).run(out);
    }
  }

  private void run(PrintStream out) throws InterruptedException {
    long elements = (long) plan.keys() * plan.width();
    try (TensorLease values = weft.allocate(DType.FLOAT32, Shape.of(elements));
        TensorLease pulled = weft.allocate(DType.FLOAT32, Shape.of(elements))) {
      MemorySegment from = values.view().data();
      for (long i = 0; i < elements; i++) {
        from.setAtIndex(JAVA_FLOAT, i, (float) (i % PATTERN));
      }
      time(from, pulled.view().data(), new long[plan.warmUp()]);
      long[] nanos = new long[plan.requests()];
      long total = time(from, pulled.view().data(), nanos);
      boolean right = check(pulled.view().data());
      long[] all = {total, right ? 0 : 1};
      RankMaximum.largest(store.workers(), all);
      RankMaximum.largest(store.workers(), nanos);
      long copy = copyNanos(from, pulled.view().data());
      if (weft.rank() == plan.servers()) {
        out.println(KvFigure.line(new KvFigure.Run(nanos, all[0], copy, all[1] == 0)));
        out.flush();
      }
    }
  }

  /// Fills `nanos` with what each request took; how long all took.
  private long time(MemorySegment from, MemorySegment into, long[] nanos)
      throws InterruptedException {
    store.barrier();
    ArrayDeque<Handle<Void>> open = new ArrayDeque<>();
    ArrayDeque<Long> begun = new ArrayDeque<>();
    long begin = System.nanoTime();
    int done = 0;
    for (int i = 0; i < nanos.length; i++) {
      begun.add(System.nanoTime());
      open.add(send(from, into));
      if (open.size() == plan.window()) {
        var unused = open.remove().await();
        nanos[done++] = System.nanoTime() - begun.remove();
      }
    }
    while (!open.isEmpty()) {
      var unused = open.remove().await();
      nanos[done++] = System.nanoTime() - begun.remove();
    }
    long total = System.nanoTime() - begin;
    store.barrier();
    return total;
  }

  private Handle<Void> send(MemorySegment from, MemorySegment into) throws InterruptedException {
    return switch (plan.op()) {
      case PUSH -> table.push(keys, from);
      case PULL -> table.pull(keys, into);
      case PUSHPULL -> table.pushPull(keys, from, into);
    };
  }

  /// Whether the servers have what all workers have pushed.
  private boolean check(MemorySegment pulled) throws InterruptedException {
    pulled.fill((byte) 0xff);
    var unused = table.pull(keys, pulled).await();
    store.barrier();
    long pushes = (long) plan.workers() * (plan.warmUp() + plan.requests());
    for (long i = 0; i < pulled.byteSize() / 4; i++) {
      float expected = plan.op() == KvPlan.Op.PULL ? 0 : pushes * (i % PATTERN);
      if (pulled.getAtIndex(JAVA_FLOAT, i) != expected) {
        return false;
      }
    }
    return true;
  }

  /// Median of copies of as many bytes in memory of this process.
  private static long copyNanos(MemorySegment from, MemorySegment into) {
    long[] nanos = new long[101];
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment other = arena.allocate(from.byteSize(), 64);
      for (int i = 0; i < nanos.length; i++) {
        long begin = System.nanoTime();
        MemorySegment.copy(
            i % 2 == 0 ? from : other, 0, i % 2 == 0 ? other : into, 0, from.byteSize());
        nanos[i] = System.nanoTime() - begin;
      }
    }
    Arrays.sort(nanos);
    return nanos[nanos.length / 2];
  }
}
