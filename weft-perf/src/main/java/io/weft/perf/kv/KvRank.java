// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.weft.TransferCounts;
import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.comm.Handle;
import io.weft.kv.KvConfig;
import io.weft.kv.KvNode;
import io.weft.kv.KvOptions;
import io.weft.kv.KvServer;
import io.weft.kv.KvWorker;
import io.weft.perf.plain.PlainWay;
import io.weft.perf.rank.RankGroup;
import io.weft.perf.rank.RankProgram;
import io.weft.perf.rank.TransferTotals;
import io.weft.perf.report.RankPrinter;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;

/// The program of one rank of a parameter-server measurement. A server serves until all workers
/// have left. The first worker prints the report. Each worker compares all values at the end.
public final class KvRank {

  private static final Duration LONGEST = Duration.ofHours(1);

  private final Weft weft;
  private final KvPlan plan;
  private final KvWorker store;
  private final TransferTotals transfers;
  private final KvTraffic traffic;
  private final KvTarget target;

  private KvRank(Weft weft, KvPlan plan, KvWorker store, TransferTotals transfers)
      throws InterruptedException {
    this.weft = weft;
    this.plan = plan;
    this.store = store;
    this.transfers = transfers;
    this.traffic = new KvTraffic(plan, store.workers().rank());
    this.target = KvTarget.of(plan, traffic, store);
  }

  /// Takes the plan's arguments. Exits with 0, with 1 if the job failed, with 2 for wrong
  /// arguments.
  public static void main(String[] words) {
    RankProgram.exit(words, KvRank::measure);
  }

  private static void measure(List<String> words, PrintStream out, PrintStream err)
      throws InterruptedException {
    try (Weft weft = Weft.init(settings())) {
      take(weft, KvPlan.parse(words), out);
    }
  }

  /// Returns the settings. Without a configured spill directory, rows spill to the directory of
  /// temporary files.
  static WeftConfig settings() {
    WeftConfig given = WeftConfig.load();
    return given.value(KvConfig.SPILL_DIRECTORY).isPresent()
        ? given
        : WeftConfig.builder()
            .set(KvConfig.SPILL_DIRECTORY, System.getProperty("java.io.tmpdir"))
            .build();
  }

  /// Runs this rank to its end.
  static void take(Weft weft, KvPlan plan, PrintStream out) throws InterruptedException {
    TransferTotals transfers = TransferTotals.serve(weft);
    try (KvNode kv = KvNode.open(weft, KvOptions.servers(plan.servers()))) {
      Optional<KvServer> server = kv.server();
      if (server.isPresent()) {
        boolean unused = server.get().join(LONGEST);
        return;
      }
      new KvRank(weft, plan, kv.worker(), transfers).run(out);
    }
  }

  private void run(PrintStream out) throws InterruptedException {
    long elements = plan.bytes() / 4;
    try (TensorLease values = weft.allocate(DType.FLOAT32, Shape.of(elements));
        TensorLease pulled = weft.allocate(DType.FLOAT32, Shape.of(elements))) {
      MemorySegment from = values.view().data();
      MemorySegment into = pulled.view().data();
      for (long i = 0; i < elements; i++) {
        from.setAtIndex(JAVA_FLOAT, i, traffic.value(i));
      }
      target.load(from);
      time(0, from, into, new long[plan.warmUp()]);
      long[] nanos = new long[plan.requests()];
      boolean isFirst = store.workers().rank() == 0;
      TransferCounts before = isFirst ? transfers.now() : TransferCounts.NONE;
      long total = time(plan.warmUp(), from, into, nanos);
      TransferCounts moved = isFirst ? transfers.now().minus(before) : TransferCounts.NONE;
      into.fill((byte) 0xff);
      boolean right = target.check(plan.warmUp() + plan.requests(), into);
      store.barrier();
      long[] all = {total, right ? 0 : 1};
      RankGroup workers = RankGroup.of(store.workers());
      workers.largest(all);
      workers.largest(nanos);
      if (isFirst) {
        long copy = PlainWay.copyNanos(from, into);
        long loopback = weft.transport().equals("tcp") ? PlainWay.loopbackNanos(from) : 0;
        var printer = new RankPrinter(out, 0);
        printer.peer("weft");
        printer.times(KvPlan.CASE, all[1] == 0, nanos);
        printer.figure("total", (double) all[0]);
        printer.figure("copy", (double) copy);
        printer.figure("loopback", (double) loopback);
        long bytes = plan.bytes() * plan.workers() * plan.requests();
        transfers.print(printer, moved, bytes, plan.requests());
        printer.done();
      }
    }
  }

  /// Fills `nanos` with the time of each request. Returns the time of all requests.
  private long time(int first, MemorySegment from, MemorySegment into, long[] nanos)
      throws InterruptedException {
    store.barrier();
    ArrayDeque<Handle<Void>> open = new ArrayDeque<>();
    ArrayDeque<Long> begun = new ArrayDeque<>();
    long begin = System.nanoTime();
    int done = 0;
    for (int i = 0; i < nanos.length; i++) {
      begun.add(System.nanoTime());
      open.add(target.send(first + i, from, into));
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
}
