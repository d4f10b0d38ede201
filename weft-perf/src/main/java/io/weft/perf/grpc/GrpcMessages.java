// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.grpc;

import io.grpc.ManagedChannel;
import io.weft.perf.process.ServerProcess;
import io.weft.perf.rank.RankArguments;
import io.weft.perf.rank.RankArguments.RankCase;
import io.weft.perf.rank.RankProgram;
import io.weft.perf.report.RankPrinter;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;

/// The program of rank 0 of the peer `grpc`. Like all contestants it takes
/// `messages:OUTSTANDING:BATCH WARM_UP_MILLIS BYTES:ITERATIONS...`. It starts rank 1, an
/// `EchoServer`.
///
/// The configuration is the fastest of grpc-java: one connection, by epoll if available, without
/// encryption, retries and additional threads. The event loop receives each answer and sends the
/// next request.
public final class GrpcMessages {
  private static final int WARM_UP_ITERATIONS = 4;

  private final ManagedChannel channel;
  private final int outstanding;
  private final int batch;

  private GrpcMessages(ManagedChannel channel, int outstanding, int batch) {
    this.channel = channel;
    this.outstanding = outstanding;
    this.batch = batch;
  }

  /// Exits with 0, with 1 if a call failed, with 2 for wrong arguments.
  public static void main(String[] words) {
    RankProgram.exit(words, GrpcMessages::measure);
  }

  private static void measure(List<String> words, PrintStream out, PrintStream err)
      throws InterruptedException {
    RankArguments arguments = RankArguments.parse(words);
    int[] settings = settings(arguments);
    try (ServerProcess server = ServerProcess.start(EchoServer.class);
        Connection connection = Connection.to(server.port())) {
      var printer = new RankPrinter(out, 0);
      printer.peer(Connection.peer());
      new GrpcMessages(connection.channel(), settings[0], settings[1]).runAll(arguments, printer);
    } catch (IOException e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
  }

  private static int[] settings(RankArguments arguments) {
    try {
      int[] numbers = arguments.settings().stream().mapToInt(Integer::parseInt).toArray();
      if (arguments.benchmark().equals("messages")
          && numbers.length == 2
          && arguments.cases().stream().allMatch(one -> one.bytes() >= EchoServer.FEWEST_BYTES)) {
        return numbers;
      }
    } catch (NumberFormatException e) {
      // The exception is thrown below.
    }
    throw new IllegalArgumentException(
        "usage: messages:OUTSTANDING:BATCH WARM_UP_MILLIS BYTES:ITERATIONS... with BYTES of at"
            + " least "
            + EchoServer.FEWEST_BYTES);
  }

  private void runAll(RankArguments arguments, RankPrinter printer) throws InterruptedException {
    for (RankCase one : arguments.cases()) {
      warmUp(one, arguments.firstWarmUpNanos());
    }
    for (RankCase one : arguments.cases()) {
      warmUp(one, arguments.warmUpNanos());
      Requests requests = requests(one, one.iterations());
      long[] nanos = requests.run(outstanding);
      printer.times(one.bytes(), requests.isRight(), nanos);
    }
    printer.done();
  }

  private void warmUp(RankCase one, long nanos) throws InterruptedException {
    long begin = System.nanoTime();
    do {
      requests(one, WARM_UP_ITERATIONS).run(outstanding);
    } while (System.nanoTime() - begin < nanos);
  }

  private Requests requests(RankCase one, int iterations) {
    return new Requests(channel, (int) one.bytes(), batch, iterations);
  }
}
