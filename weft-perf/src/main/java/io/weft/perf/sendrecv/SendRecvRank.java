// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.sendrecv;

import io.weft.TransferCounts;
import io.weft.Weft;
import io.weft.cluster.LaunchEnvironment;
import io.weft.perf.rank.RankArguments;
import io.weft.perf.rank.RankArguments.RankCase;
import io.weft.perf.rank.RankProgram;
import io.weft.perf.rank.TransferTotals;
import io.weft.perf.report.RankPrinter;
import io.weft.perf.tensorflow.GrpcServer;
import io.weft.perf.tensorflow.GrpcSession;
import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.session.StepException;
import io.weft.tensorflow.session.WeftServer;
import io.weft.tensorflow.session.WeftSession;
import io.weft.workloads.parameterserver.GraphSession;
import java.io.PrintStream;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tensorflow.TensorFlow;
import org.tensorflow.exceptions.TensorFlowException;

/// The program of one of the two tasks of `weft perf sendrecv`. The environment names its rank.
/// Rank 0 measures and prints the report, with the number of requests if its runtime counts them.
public final class SendRecvRank {

  private static final String USAGE =
      "usage: sendrecv:weft:LIMIT_SECONDS|sendrecv:grpc:LIMIT_SECONDS:PORT:PORT WARM_UP_MILLIS"
          + " BYTES:STEPS:TENSORS...";

  /// The longest time that a producer serves.
  private static final Duration SERVING = Duration.ofHours(4);

  /// The least and the greatest number of rounds over all cases before the compiler counts as idle.
  private static final int FEWEST_TURNS = 4;

  private static final int MOST_TURNS = 10;
  private static final long PAUSE_MILLIS = 300;

  /// The time of compilation in a round that is too short to matter.
  private static final long AT_REST_MILLIS = 50;

  /// A placeholder, because no task listens at its address under Weft.
  private static final int NO_PORT = 1;

  private SendRecvRank() {}

  /// Exits with the program's exit code.
  public static void main(String[] arguments) {
    RankProgram.exit(arguments, SendRecvRank::measure);
  }

  private static void measure(List<String> words, PrintStream out, PrintStream err)
      throws InterruptedException {
    RankArguments arguments = arguments(words);
    var printer = new RankPrinter(out, 0);
    try {
      if (arguments.settings().getFirst().equals("weft")) {
        underWeft(arguments, printer);
      } else {
        underGrpc(arguments, printer);
      }
    } catch (StepException | TensorFlowException e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
  }

  /// Parses and checks `sendrecv:weft:LIMIT_SECONDS` or `sendrecv:grpc:LIMIT_SECONDS:PORT:PORT`,
  /// the warm-up, and the cases.
  static RankArguments arguments(List<String> words) {
    RankArguments arguments = RankArguments.parse(words);
    List<String> settings = arguments.settings();
    boolean known =
        (settings.size() == 2 && settings.getFirst().equals("weft"))
            || (settings.size() == 4 && settings.getFirst().equals("grpc"));
    if (!known
        || arguments.cases().isEmpty()
        || !settings.stream().skip(1).allMatch(each -> each.matches("\\d{1,9}"))) {
      throw new IllegalArgumentException(USAGE);
    }
    for (RankCase one : arguments.cases()) {
      if (one.bytes() < 0
          || one.bytes() % Float.BYTES != 0
          || one.iterations() < 0
          || one.tensors() < 0
          || (one.bytes() == 0) != (one.tensors() == 0)) {
        throw new IllegalArgumentException(
            USAGE
                + "; '"
                + one.word()
                + "': bytes must be a multiple of 4, and 0 only without tensors");
      }
    }
    return arguments;
  }

  private static int setting(RankArguments arguments, int index) {
    return Integer.parseInt(arguments.settings().get(index));
  }

  /// Returns the time limit of one step.
  private static Duration limit(RankArguments arguments) {
    return Duration.ofSeconds(setting(arguments, 1));
  }

  private static void underWeft(RankArguments arguments, RankPrinter printer)
      throws InterruptedException {
    ClusterSpec cluster = Tasks.cluster(NO_PORT, NO_PORT + 1);
    try (Weft weft = Weft.init();
        WeftServer server = WeftServer.start(weft, cluster)) {
      TransferTotals totals = TransferTotals.serve(weft);
      if (weft.rank() > 0) {
        server.join(SERVING);
        return;
      }
      printer.peer("weft");
      measure(
          arguments,
          (graph, limit) ->
              new GraphSession.OfWeft(
                  WeftSession.open(server, graph, limit),
                  () -> weft.rendezvous().counts().totals().requests()),
          Optional.of(totals),
          printer);
    }
  }

  private static void underGrpc(RankArguments arguments, RankPrinter printer)
      throws InterruptedException {
    int rank = LaunchEnvironment.detect(System.getenv()).rank();
    ClusterSpec cluster = Tasks.cluster(setting(arguments, 2), setting(arguments, 3));
    GrpcServer server = GrpcServer.start(cluster, Tasks.of(rank));
    try (GrpcSession end = GrpcSession.open(server, EndSignal.graph(), limit(arguments))) {
      if (rank > 0) {
        end.run(List.of(EndSignal.AWAIT), SERVING);
        return;
      }
      printer.peer("grpc tensorflow " + TensorFlow.version());
      measure(
          arguments,
          (graph, limit) -> GrpcSession.open(server, graph, limit),
          Optional.empty(),
          printer);
      end.run(List.of(EndSignal.LEAVE), limit(arguments));
    }
  }

  private static void measure(
      RankArguments arguments,
      GraphSession.Opener opener,
      Optional<TransferTotals> totals,
      RankPrinter printer)
      throws InterruptedException {
    Duration limit = limit(arguments);
    List<CaseRun> runs = new ArrayList<>();
    try {
      for (RankCase one : arguments.cases()) {
        ExchangeGraph exchange = ExchangeGraph.of(one.tensors(), (int) one.bytes() / Float.BYTES);
        Callable<TransferCounts> transfers =
            totals.<Callable<TransferCounts>>map(all -> all::now).orElse(() -> TransferCounts.NONE);
        runs.add(new CaseRun(exchange, opener.open(exchange.graph(), limit), limit, transfers));
      }
      Duration warmUp = Duration.ofNanos(arguments.warmUpNanos());
      compile(runs, warmUp);
      for (int i = 0; i < runs.size(); i++) {
        runs.get(i).warmUp(warmUp);
        RankCase one = arguments.cases().get(i);
        CaseRun.StepTimes times = runs.get(i).measure(one.iterations());
        say(one, times, printer);
        totals.ifPresent(
            all -> {
              int steps = times.nanos().length;
              all.print(printer, times.transfers(), one.bytes() * one.tensors() * steps, steps);
            });
      }
    } finally {
      runs.forEach(CaseRun::close);
    }
    printer.done();
  }

  /// Runs rounds of untimed cases with pauses for the compiler.
  private static void compile(List<CaseRun> runs, Duration each) throws InterruptedException {
    boolean compiled = true;
    for (int turn = 0; turn < FEWEST_TURNS || (compiled && turn < MOST_TURNS); turn++) {
      long before = compilingMillis();
      for (CaseRun run : runs) {
        run.warmUp(each);
      }
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      compiled = compilingMillis() - before > AT_REST_MILLIS;
    }
  }

  private static long compilingMillis() {
    @Nullable CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
    return compiler == null ? 0 : compiler.getTotalCompilationTime();
  }

  private static void say(RankCase one, CaseRun.StepTimes times, RankPrinter printer) {
    printer.times(one.key(), times.right(), times.nanos());
    if (times.requests() >= 0) {
      printer.figure("requests", times.requests());
    }
  }
}
