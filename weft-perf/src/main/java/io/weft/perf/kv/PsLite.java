// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import io.weft.agent.Ticker;
import io.weft.perf.kv.KvPlan.Subject;
import io.weft.perf.plain.FreePort;
import io.weft.perf.process.Child;
import io.weft.perf.process.PerfException;
import io.weft.perf.report.RankReport;
import io.weft.transport.limit.ClampedDuration;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// ps-lite's program `test_benchmark`, which the user has built. A scheduler, a server and a worker
/// run over ZeroMQ on loopback with one value and one request at a time. The program prints the
/// rate of each request and compares nothing.
final class PsLite implements KvPeer {

  /// The name on the command line.
  static final String WORD = "ps-lite";

  /// The longest measuring time after the first figure.
  private static final long MOST_NANOS = 10_000_000_000L;

  private static final int LEAST_FIGURES = 20;
  private static final int LAST_LINES = 20;
  private static final Duration LOOK = Duration.ofMillis(50);
  private static final Pattern GOODPUT = Pattern.compile("Application goodput: (\\S+) Gbps");
  private static final Pattern MODE = Pattern.compile("=+ (\\w+) mode =+");
  private static final Pattern BYTES = Pattern.compile("msg_size=(\\d+) bytes");

  private final Path program;

  private PsLite(Path program) {
    this.program = program;
  }

  /// Throws `IllegalArgumentException` without a path.
  static PsLite at(@Nullable Path program) {
    if (program == null) {
      throw new IllegalArgumentException(
          "--peer ps-lite: give the path of its program test_benchmark by --ps-lite");
    }
    return new PsLite(program.toAbsolutePath());
  }

  @Override
  public String word() {
    return WORD;
  }

  @Override
  public void check(List<KvPlan> cases) {
    KvPlan plan = cases.getFirst();
    if (cases.size() != 1
        || plan.workers() != 1
        || plan.servers() != 1
        || plan.window() != 1
        || !(plan.subject() instanceof Subject.Tensor)) {
      throw new IllegalArgumentException(
          "--peer ps-lite: its program runs one worker, one server and one request of one value at"
              + " a time; give --value and no list");
    }
  }

  @Override
  public void prepare() {
    String why =
        !Files.exists(program)
            ? "there is no file"
            : !Files.isRegularFile(program) || !Files.isExecutable(program)
                ? "it is not an executable program"
                : "";
    if (!why.isEmpty()) {
      throw new PerfException.Missing(
          "peer ps-lite: %s: %s; build ps-lite (make test), and give its tests/test_benchmark"
              .formatted(program, why));
    }
  }

  @Override
  public RankReport run(KvPlan plan, Duration limit) throws InterruptedException {
    int wanted = plan.warmUp() + plan.requests();
    Map<String, String> job = job(FreePort.onLoopback(), wanted);
    try (Child scheduler = start("scheduler", job, plan);
        Child server = start("server", job, plan);
        Child worker = start("worker", job, plan)) {
      long begin = Ticker.SYSTEM.nanos();
      long first = 0;
      while (true) {
        boolean ended = worker.hasEnded(LOOK);
        List<String> lines = worker.out();
        int figures = nanos(lines, plan).length;
        long now = Ticker.SYSTEM.nanos();
        first = first == 0 && figures > 0 ? now : first;
        if (figures >= wanted
            || (figures >= LEAST_FIGURES && (ended || now - first > MOST_NANOS))) {
          return report(lines, plan);
        }
        if (ended) {
          List<String> all = worker.await(limit).out();
          if (nanos(all, plan).length < LEAST_FIGURES) {
            throw failed("its worker has ended", all);
          }
          return report(all, plan);
        }
        requireRuns("scheduler", scheduler);
        requireRuns("server", server);
        if (now - begin > ClampedDuration.nanos(limit)) {
          throw failed(
              "%d of %d requests within %d s; raise --limit, or give fewer --requests"
                  .formatted(figures, wanted, limit.toSeconds()),
              lines);
        }
      }
    }
  }

  private static Map<String, String> job(int port, int requests) {
    Map<String, String> job = new HashMap<>();
    job.put("DMLC_NUM_WORKER", "1");
    job.put("DMLC_NUM_SERVER", "1");
    job.put("DMLC_PS_ROOT_URI", "127.0.0.1");
    job.put("DMLC_PS_ROOT_PORT", String.valueOf(port));
    job.put("DMLC_NODE_HOST", "127.0.0.1");
    job.put("NUM_KEY_PER_SERVER", "1");
    job.put("LOG_DURATION", "1"); // A line for each request, printed outside its time.
    job.put("TOTAL_DURATION", String.valueOf(requests));
    job.put("SKIP_DEV_ID_CHECK", "1");
    return job;
  }

  /// Starts one process. The program writes to standard error, which joins standard output here.
  private Child start(String role, Map<String, String> job, KvPlan plan) {
    Map<String, String> variables = new HashMap<>(job);
    variables.put("DMLC_ROLE", role);
    return Child.start(
        List.of(
            "/bin/sh",
            "-c",
            "exec \"$0\" \"$@\" 2>&1",
            program.toString(),
            String.valueOf(plan.bytes()),
            String.valueOf(plan.requests()),
            String.valueOf(mode(plan.op()).number())),
        variables);
  }

  /// A mode of the program.
  private record Mode(int number, String name) {}

  private static Mode mode(KvPlan.Op op) {
    return switch (op) {
      case PUSHPULL -> new Mode(1, "PUSH_PULL");
      case PUSH -> new Mode(2, "PUSH_ONLY");
      case PULL -> new Mode(3, "PULL_ONLY");
      case LOOKUP, UPDATE -> throw new IllegalArgumentException("ps-lite has no " + op.word());
    };
  }

  private static void requireRuns(String role, Child process) throws InterruptedException {
    if (process.hasEnded(Duration.ZERO)) {
      throw failed("its " + role + " has ended", process.out());
    }
  }

  private static PerfException.Failed failed(String why, List<String> lines) {
    List<String> last = lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size());
    return new PerfException.Failed(
        "peer ps-lite: %s:%n%s"
            .formatted(why, last.isEmpty() ? "it printed nothing" : String.join("\n", last)));
  }

  private static RankReport report(List<String> lines, KvPlan plan) {
    long[] all = nanos(lines, plan);
    int warmUp = Math.min(plan.warmUp(), all.length / 5);
    List<Long> timed = Arrays.stream(all).skip(warmUp).boxed().toList();
    double total = timed.stream().mapToLong(Long::longValue).sum();
    return new RankReport(
        WORD, List.of(new RankReport.Sample(KvPlan.CASE, null, timed, Map.of("total", total))));
  }

  /// Returns the time of each request from the worker's output. Throws `PerfException.Failed` if
  /// the program measures another operation or size than requested.
  static long[] nanos(List<String> lines, KvPlan plan) {
    List<Long> nanos = new ArrayList<>();
    for (String line : lines) {
      Matcher mode = MODE.matcher(line);
      if (mode.find() && !mode.group(1).equals(mode(plan.op()).name())) {
        throw failed(
            "it measures %s, not %s; this version has other modes"
                .formatted(mode.group(1), mode(plan.op()).name()),
            lines);
      }
      Matcher bytes = BYTES.matcher(line);
      if (bytes.find() && Long.parseLong(bytes.group(1)) != plan.bytes()) {
        throw failed(
            "its values have %s bytes, not %d; this version counts differently"
                .formatted(bytes.group(1), plan.bytes()),
            lines);
      }
      Matcher goodput = GOODPUT.matcher(line);
      if (goodput.find()) {
        nanos.add(nanos(goodput.group(1), plan.bytes(), lines));
      }
    }
    return nanos.stream().mapToLong(Long::longValue).toArray();
  }

  private static long nanos(String gigabits, long bytes, List<String> lines) {
    try {
      double perNano = Double.parseDouble(gigabits);
      if (perNano > 0 && perNano < Double.POSITIVE_INFINITY) {
        return Math.max(1, Math.round(8.0 * bytes / perNano));
      }
    } catch (NumberFormatException wrong) {
      throw failed("'" + gigabits + "' is not a rate", lines);
    }
    throw failed("'" + gigabits + "' is not a rate", lines);
  }
}
