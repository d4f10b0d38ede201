// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.failover;

import io.weft.Weft;
import io.weft.agent.Ticker;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.kv.KvNode;
import io.weft.kv.KvOptions;
import io.weft.kv.KvServer;
import io.weft.kv.KvTable;
import io.weft.kv.KvWorker;
import io.weft.kv.function.KvChange;
import io.weft.kv.function.KvChanges;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Random;

/// A rank, in its own process, of a job whose workers count. Each worker pushes ones to its own
/// keys until it is told to stop, and then compares the servers' values with its acknowledged
/// pushes. One worker may instead pull long rows, which need more memory for replies than a server
/// has.
final class CountingRank {

  private static final int KEYS = 5000;
  private static final int WINDOW = 16;
  private static final int MOST_KEYS = 64;
  private static final int LONG_ROW = 4096;
  private static final int LONG_ROWS = 256;
  private static final int LONG_PULLS = 64;

  /// The count of rows that each change modifies.
  private static final int CHANGED = 500;

  private static final Duration LOOK = Duration.ofMillis(50);
  private static final int MOST_LOOKS = 12_000;

  private CountingRank() {}

  /// Returns the name of the file that a rank writes when it is ready.
  static String ready(int rank) {
    return "ready-" + rank;
  }

  /// Returns the name of the file that a worker writes when it has compared.
  static String result(int rank) {
    return "result-" + rank;
  }

  /// Returns the name of the file to which a server repeatedly writes its count of mirrored shards.
  static String mirrored(long pid) {
    return "mirrored-" + pid;
  }

  /// The name of the file that tells workers to stop.
  static final String STOP = "stop";

  /// @param arguments the count of servers, the directory, the rank of the pulling worker or -1
  public static void main(String[] arguments) throws Exception {
    int servers = Integer.parseInt(arguments[0]);
    Path directory = Path.of(arguments[1]);
    int puller = Integer.parseInt(arguments[2]);
    var options = KvOptions.servers(servers).withMirrors().withDeadline(Duration.ofSeconds(60));
    try (Weft weft = Weft.init();
        KvNode kv = KvNode.open(weft, options)) {
      if (kv.server().isPresent()) {
        Files.writeString(directory.resolve(ready(weft.rank())), "");
        tellMirrored(kv.server().get(), directory);
        return;
      }
      KvTable table =
          kv.worker()
              .register(
                  TableSpec.rows("counters", 4).withRule("sum").with(Consistency.asynchronous()));
      KvTable longRows =
          kv.worker()
              .register(
                  TableSpec.rows("long rows", LONG_ROW)
                      .withRule("sum")
                      .with(Consistency.asynchronous()));
      String said;
      try {
        said =
            weft.rank() == puller
                ? pullUntilTold(longRows, weft.rank(), directory)
                : new Counting(kv.worker(), table, weft.rank()).untilTold(directory);
      } catch (CommException failed) {
        said = "failed: " + failed.getMessage();
      }
      Files.writeString(directory.resolve(result(weft.rank())), said);
    }
  }

  /// Writes the count of mirrored shards of this server until the workers have left.
  private static void tellMirrored(KvServer server, Path directory)
      throws IOException, InterruptedException {
    Path file = directory.resolve(mirrored(ProcessHandle.current().pid()));
    Path next = directory.resolve(file.getFileName() + ".next");
    boolean left = false;
    for (int i = 0; i < MOST_LOOKS && !left; i++) {
      Files.writeString(next, Integer.toString(server.mirrored().size()));
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
      left = server.join(LOOK);
    }
  }

  private static String pullUntilTold(KvTable table, int rank, Path directory)
      throws IOException, InterruptedException {
    long[] keys = new long[LONG_ROWS];
    Arrays.setAll(keys, i -> i);
    float[] ones = new float[LONG_ROWS * LONG_ROW];
    Arrays.fill(ones, 1);
    table.push(keys, ones).await();
    var open = new ArrayDeque<Handle<Void>>();
    var into = new ArrayDeque<float[]>();
    long pulls = 0;
    while (!Files.exists(directory.resolve(STOP)) || !open.isEmpty()) {
      if (open.size() == LONG_PULLS || Files.exists(directory.resolve(STOP))) {
        var unused = open.remove().await();
        float[] rows = into.remove();
        pulls++;
        if (!Arrays.equals(rows, ones)) {
          return "wrong: rows that were pushed once are not what was pulled";
        }
      } else {
        float[] rows = new float[ones.length];
        into.add(rows);
        open.add(table.pull(keys, rows));
      }
      if (pulls == 1) {
        Files.writeString(directory.resolve(ready(rank)), "");
      }
    }
    return "right: %d pushes, longest wait 0 ms".formatted(pulls);
  }

  /// A counting worker. It pushes ones to counters, and after each window of pushes sends a change
  /// that adds one to each row of a private table.
  private static final class Counting {
    private final KvTable table;
    private final KvTable changed;
    private final KvChange addOne;
    private final int rank;
    private final long[] sums = new long[KEYS];
    private final ArrayDeque<Handle<Void>> open = new ArrayDeque<>();
    private long changes;
    private long last;
    private long longest;

    Counting(KvWorker worker, KvTable table, int rank) throws InterruptedException {
      this.table = table;
      this.rank = rank;
      TableSpec own = TableSpec.rows("changed " + rank, 1).with(Consistency.asynchronous());
      TableSpec each = TableSpec.rows("ones " + rank, 1).with(Consistency.asynchronous());
      this.changed = worker.register(own);
      this.addOne = KvChanges.axpy(1, each.name());
      float[] ones = new float[CHANGED];
      Arrays.fill(ones, 1);
      worker.register(each).push(changedKeys(), ones).await();
    }

    private static long[] changedKeys() {
      long[] keys = new long[CHANGED];
      Arrays.setAll(keys, i -> i);
      return keys;
    }

    String untilTold(Path directory) throws IOException, InterruptedException {
      var random = new Random(rank);
      long pushes = 0;
      last = Ticker.SYSTEM.nanos();
      while (!Files.exists(directory.resolve(STOP))) {
        for (int i = 0; i < WINDOW; i++) {
          push(random);
          pushes++;
        }
        open.add(changed.change(addOne));
        changes++;
        acknowledged();
        if (pushes == WINDOW) {
          Files.writeString(directory.resolve(ready(rank)), "");
        }
      }
      while (!open.isEmpty()) {
        acknowledged();
      }
      return compare(pushes);
    }

    private void push(Random random) throws InterruptedException {
      int count = 1 + random.nextInt(MOST_KEYS);
      long[] keys = new long[count];
      float[] ones = new float[4 * count];
      Arrays.fill(ones, 1);
      for (int i = 0; i < count; i++) {
        int key = random.nextInt(KEYS);
        sums[key]++;
        keys[i] = (long) rank * KEYS + key;
      }
      open.add(table.push(keys, ones));
      if (open.size() == WINDOW) {
        acknowledged();
      }
    }

    private void acknowledged() throws InterruptedException {
      var unused = open.remove().await();
      long now = Ticker.SYSTEM.nanos();
      longest = Math.max(longest, now - last);
      last = now;
    }

    private String compare(long pushes) throws InterruptedException {
      long[] keys = new long[KEYS];
      Arrays.setAll(keys, i -> (long) rank * KEYS + i);
      float[] rows = new float[4 * KEYS];
      table.pull(keys, rows).await();
      for (int i = 0; i < rows.length; i++) {
        if (rows[i] != sums[i / 4]) {
          return "wrong: key %d column %d has %s, expected %d"
              .formatted(keys[i / 4], i % 4, rows[i], sums[i / 4]);
        }
      }
      float[] counts = new float[CHANGED];
      changed.pull(changedKeys(), counts).await();
      for (int i = 0; i < CHANGED; i++) {
        if (counts[i] != changes) {
          return "wrong: row %d was changed %s times, expected %d".formatted(i, counts[i], changes);
        }
      }
      return "right: %d pushes, longest wait %d ms".formatted(pushes, longest / 1_000_000);
    }
  }
}
