// SPDX-License-Identifier: Apache-2.0
package io.weft.bench.grpc;

import io.grpc.ManagedChannel;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// The client of `weft perf wide-deep-traffic` under grpc-java: `SERVERS TENSORS BYTES
/// COMPUTE_MICROS WARM_UP_MILLIS WINDOW_MILLIS WORKERS...`, as all contestants are told. It starts
/// the servers, has one connection with each of them for all workers, and speaks the lines that
/// `weft perf` reads. Each tensor and each gradient is a unary call, as each is a call under
/// TensorFlow's own gRPC runtime.
public final class GrpcTraffic {

  /// As under Weft: the first warm-up lasts until the JVM has compiled what it will time.
  private static final int COMPILING_TIMES = 5;

  /// No case has as many steps of one worker.
  private static final int STEPS_OF_A_CASE = 1 << 24;

  private final Shape shape;
  private final List<ManagedChannel> servers;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("traffic-compute").factory());
  private int cases;

  private GrpcTraffic(Shape shape, List<ManagedChannel> servers) {
    this.shape = shape;
    this.servers = servers;
  }

  /// What a step is.
  record Shape(int tensors, int bytes, long computeMicros) {}

  /// What all workers of a case share.
  record Cell(ScheduledExecutorService timer, TrafficCase all) {}

  /// Ends with 0, 1 if a call failed, 2 for wrong arguments.
  public static void main(String[] words) {
    System.exit(run(words, System.out, System.err));
  }

  private static int run(String[] words, PrintStream out, PrintStream err) {
    try {
      List<Integer> numbers = Stream.of(words).map(Integer::valueOf).toList();
      Shape shape = new Shape(numbers.get(1), numbers.get(2), numbers.get(3));
      List<Integer> workers = numbers.subList(6, numbers.size());
      int most = workers.stream().mapToInt(count -> count).max().orElseThrow();
      long warmUp = TimeUnit.MILLISECONDS.toNanos(numbers.get(4));
      long window = TimeUnit.MILLISECONDS.toNanos(numbers.get(5));
      List<AutoCloseable> owned = new ArrayList<>();
      try {
        GrpcTraffic traffic = new GrpcTraffic(shape, connect(numbers.get(0), shape, owned));
        out.println("peer " + Connection.peer());
        String unused = traffic.run(most, COMPILING_TIMES * warmUp, 1);
        for (int count : workers) {
          out.println("case " + count + " checked " + traffic.run(count, warmUp, window));
          out.flush();
        }
        out.println("done");
        out.flush();
      } finally {
        for (AutoCloseable one : owned.reversed()) {
          one.close();
        }
      }
      return 0;
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      err.println(
          "usage: SERVERS TENSORS BYTES COMPUTE_MICROS WARM_UP_MILLIS WINDOW_MILLIS WORKERS...: "
              + e.getMessage());
      return 2;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      err.println("interrupted");
      return 1;
    } catch (Exception e) {
      err.println(e.getMessage());
      return 1;
    }
  }

  /// Starts all servers, then connects with each.
  private static List<ManagedChannel> connect(int count, Shape shape, List<AutoCloseable> owned)
      throws IOException {
    List<ServerProcess> processes = new ArrayList<>();
    for (int server = 0; server < count; server++) {
      int tensors = (shape.tensors() - server + count - 1) / count;
      ServerProcess process =
          ServerProcess.start(TensorServer.class, "" + tensors, "" + shape.bytes());
      owned.add(process);
      processes.add(process);
    }
    List<ManagedChannel> channels = new ArrayList<>();
    for (ServerProcess process : processes) {
      Connection connection = Connection.to(process.port());
      owned.add(connection);
      channels.add(connection.channel());
    }
    return channels;
  }

  private String run(int workers, long warmUpNanos, long windowNanos) throws InterruptedException {
    int first = cases++ * STEPS_OF_A_CASE;
    TrafficCase all = new TrafficCase(workers, warmUpNanos, windowNanos);
    Cell cell = new Cell(timer, all);
    for (int worker = 0; worker < workers; worker++) {
      new TensorWorker(shape, servers, worker, first, cell).start();
    }
    all.await();
    return all.words(shape.tensors());
  }
}
