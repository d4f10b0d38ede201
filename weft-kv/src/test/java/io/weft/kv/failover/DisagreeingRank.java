// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.failover;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.kv.KvNode;
import io.weft.kv.KvOptions;
import io.weft.kv.KvValues;
import io.weft.kv.spec.TableSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.LongStream;

/// A rank, in its own process, of a job of two servers and two workers. The first worker pushes one
/// value of another length in its third push.
final class DisagreeingRank {

  private static final int SERVERS = 2;
  private static final long[] KEYS = LongStream.range(0, 100).toArray();
  private static final int STEPS = 5;

  private DisagreeingRank() {}

  /// Returns the file to which a worker writes its result.
  static Path result(Path directory, int rank) {
    return directory.resolve("result-" + rank);
  }

  /// @param arguments the directory of the results
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    try (Weft weft = Weft.init();
        KvNode kv = KvNode.open(weft, KvOptions.servers(SERVERS))) {
      if (kv.server().isPresent()) {
        boolean unused = kv.server().get().join(Duration.ofSeconds(90));
        return;
      }
      KvValues values = kv.worker().registerValues(TableSpec.values("v", 4));
      try {
        train(values, weft.rank() == SERVERS);
        write(directory, weft.rank(), "no failure");
      } catch (CommException failed) {
        write(directory, weft.rank(), failed.getMessage() + "\n" + again(values));
      }
      kv.worker().barrier();
    }
  }

  private static void train(KvValues values, boolean disagrees) throws InterruptedException {
    float[] pulled = new float[KEYS.length];
    for (int step = 1; step <= STEPS; step++) {
      int[] lengths = new int[KEYS.length];
      Arrays.fill(lengths, 1);
      if (disagrees && step == 3) {
        lengths[40] = 2;
      }
      float[] ones = new float[Arrays.stream(lengths).sum()];
      Arrays.fill(ones, 1);
      var unused = values.push(KEYS, lengths, ones).await();
      Arrays.fill(lengths, 1);
      var unusedPull = values.pull(KEYS, lengths, pulled).await();
      for (float each : pulled) {
        if (each != 2 * step) {
          throw new IllegalStateException("step " + step + ": " + each);
        }
      }
    }
  }

  private static String again(KvValues values) throws InterruptedException {
    try {
      var unused = values.lengths(KEYS).await();
      return "no failure";
    } catch (CommException failed) {
      return failed.getMessage();
    }
  }

  private static void write(Path directory, int rank, String text) throws IOException {
    Files.writeString(result(directory, rank), text);
  }
}
