// SPDX-License-Identifier: Apache-2.0
package io.weft.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/// Checks that hot paths allocate nothing, or at most the bound given here. Each benchmark runs
/// briefly in this JVM, and the lowest of its iterations counts: other threads allocate, too, and
/// code that is not compiled yet allocates more, but every iteration includes the allocations of
/// the hot path itself. A path above its bound is measured again for twice as long before the test
/// fails, because allocations that happen once per iteration, such as JMH's, count for less among
/// more operations.
final class AllocationGateTest {

  private static final String PER_OPERATION = "gc.alloc.rate.norm";
  private static final int ATTEMPTS = 6;
  private static final long SHORTEST_MILLIS = 200;

  private static double bytesPerOperation(String benchmark, String parameters, TimeValue time)
      throws RunnerException {
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include("\\b" + benchmark.replace(".", "\\.") + "$")
            .addProfiler(GCProfiler.class)
            .forks(0)
            .warmupIterations(1)
            .warmupTime(TimeValue.milliseconds(300))
            .measurementIterations(2)
            .measurementTime(time)
            .verbosity(VerboseMode.SILENT)
            .shouldFailOnError(true);
    for (String parameter : parameters.split(" ")) {
      String[] pair = parameter.split("=");
      options.param(pair[0], pair[1]);
    }
    Collection<RunResult> results = new Runner(options.build()).run();
    assertThat(results).as("%s with %s is one benchmark", benchmark, parameters).hasSize(1);
    return results.stream()
        .flatMap(result -> result.getBenchmarkResults().stream())
        .map(BenchmarkResult::getIterationResults)
        .flatMap(Collection::stream)
        .map(AllocationGateTest::allocated)
        .min(Double::compare)
        .orElseThrow();
  }

  private static double allocated(IterationResult iteration) {
    return iteration.getSecondaryResults().get(PER_OPERATION).getScore();
  }

  /// @param bound the bound in bytes
  /// @param measured the measured bytes, with their origin, when the bound was set
  @Tag("lab")
  @ParameterizedTest(name = "{0} {1}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          KernelBenchmark.reduce          | dtype=FLOAT32 bytes=4096  |     1 | nothing
          KernelBenchmark.reduce          | dtype=FLOAT64 bytes=4096  |     1 | nothing
          KernelBenchmark.reduce          | dtype=FLOAT16 bytes=4096  |     1 | nothing
          KernelBenchmark.reduce          | dtype=BFLOAT16 bytes=4096 |     1 | nothing
          KernelBenchmark.reduce          | dtype=INT32 bytes=4096    |     1 | nothing
          RingBenchmark.reserveAndRelease | bytes=64                  |     1 | nothing
          RingBenchmark.showToSink        | bytes=64                  |     1 | nothing
          MessageBenchmark.sendAndPoll    | transport=inproc          |     1 | nothing
          MessageBenchmark.sendAndPoll    | transport=tcp             |     1 | nothing
          PoolBenchmark.takeAndGive       | bytes=4096                |    96 | 88: a lease, its slice, an Optional
          RowTableBenchmark.lookup        | rows=20000                |     1 | nothing
          RowTableBenchmark.update        | rows=20000                |     1 | nothing
          SlotBenchmark.allreduce         | bytes=4                   |   400 | 336: of each of two ranks its handle (88) and its plan (80); the request is made once
          AllreduceBenchmark.allreduce    | bytes=4                   | 32768 | 7 KiB of two ranks with their waits: handle, operation, parked threads
          """)
  void thePathAllocatesLessThanItsBound(
      String benchmark, String parameters, double bound, String measured) throws RunnerException {
    double[] attempts = new double[ATTEMPTS];
    for (int i = 0; i < ATTEMPTS; i++) {
      attempts[i] =
          bytesPerOperation(benchmark, parameters, TimeValue.milliseconds(SHORTEST_MILLIS << i));
      if (attempts[i] < bound) {
        return;
      }
    }
    List<String> now = Arrays.stream(attempts).mapToObj("%.1f"::formatted).toList();
    assertThat(Arrays.stream(attempts).min().orElseThrow())
        .as(
            "bytes that %s with %s allocates per operation: %s; when the bound was set: %s",
            benchmark, parameters, now, measured)
        .isLessThan(bound);
  }
}
