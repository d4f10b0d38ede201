// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.grpc;

import io.grpc.ManagedChannel;
import io.weft.perf.process.ServerProcess;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

/// The program of rank 0 of the peer `grpc`. Like all contestants it takes
/// `messages:OUTSTANDING:BATCH WARM_UP_MILLIS BYTES:ITERATIONS...`. It starts rank 1, an
/// `EchoServer`, and prints the lines that `weft perf` reads.
///
/// The configuration is the fastest of grpc-java: one connection, by epoll if available, without
/// encryption, retries and additional threads. The event loop receives each answer and sends the
/// next request.
public final class GrpcMessages {

  /// The first pass lasts until the JVM has compiled the timed code, as for Weft's ranks.
  private static final long COMPILING_TIMES = 30;

  private static final int WARM_UP_ITERATIONS = 4;

  private final ManagedChannel channel;
  private final int outstanding;
  private final int batch;

  private GrpcMessages(ManagedChannel channel, int outstanding, int batch) {
    this.channel = channel;
    this.outstanding = outstanding;
    this.batch = batch;
  }

  private record Case(int bytes, int iterations) {

    static Case of(String text) {
      String[] words = text.split(":", -1);
      Case one = new Case(Integer.parseInt(words[0]), Integer.parseInt(words[1]));
      if (one.bytes < Numbered.FEWEST_BYTES) {
        throw new IllegalArgumentException(
            "a message of %d bytes cannot be numbered; allowed: %d and more"
                .formatted(one.bytes, Numbered.FEWEST_BYTES));
      }
      return one;
    }
  }

  /// Exits with 0, with 1 if a call failed, with 2 for wrong arguments.
  public static void main(String[] words) {
    System.exit(run(words, System.out, System.err));
  }

  private static int run(String[] words, PrintStream out, PrintStream err) {
    try {
      String[] what = words[0].split(":", -1);
      if (!what[0].equals("messages")) {
        throw new IllegalArgumentException("no benchmark '" + what[0] + "'");
      }
      int outstanding = Integer.parseInt(what[1]);
      int batch = Integer.parseInt(what[2]);
      long warmUpNanos = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(words[1]));
      List<Case> cases = List.of(words).subList(2, words.length).stream().map(Case::of).toList();
      try (ServerProcess server = ServerProcess.start(EchoServer.class);
          Connection connection = Connection.to(server.port())) {
        out.println("peer " + Connection.peer());
        new GrpcMessages(connection.channel(), outstanding, batch).runAll(cases, warmUpNanos, out);
      }
      return 0;
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      err.println(
          "usage: messages:OUTSTANDING:BATCH WARM_UP_MILLIS BYTES:ITERATIONS...: "
              + e.getMessage());
      return 2;
    } catch (IOException | IllegalStateException e) {
      err.println(e.getMessage());
      return 1;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      err.println("interrupted");
      return 1;
    }
  }

  private void runAll(List<Case> cases, long warmUpNanos, PrintStream out)
      throws InterruptedException {
    for (Case one : cases) {
      warmUp(one, Math.max(warmUpNanos, COMPILING_TIMES * warmUpNanos / cases.size()));
    }
    for (Case one : cases) {
      warmUp(one, warmUpNanos);
      Requests requests = new Requests(channel, one.bytes(), batch, one.iterations());
      long[] nanos = requests.run(outstanding);
      StringBuilder line = new StringBuilder("times ").append(one.bytes());
      line.append(requests.isRight() ? " checked" : " wrong");
      LongStream.of(nanos).forEach(each -> line.append(' ').append(each));
      out.println(line);
      out.flush();
    }
    out.println("done");
    out.flush();
  }

  private void warmUp(Case one, long nanos) throws InterruptedException {
    long begin = System.nanoTime();
    do {
      new Requests(channel, one.bytes(), batch, WARM_UP_ITERATIONS).run(outstanding);
    } while (System.nanoTime() - begin < nanos);
  }
}
