// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.weft.perf.process.PerfException;
import io.weft.perf.process.SearchPath;
import io.weft.perf.report.RankReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Checks the arguments of the programs of perftest and the parsing of their output, without an
/// RDMA device.
final class PerftestTest {

  @TempDir private Path bin;

  @Test
  void theLatencyIsTheTypicalHalfRoundTrip() {
    List<String> said =
        """
         local address: LID 0000 QPN 0x0011 PSN 0x3e8fd2
        ---------------------------------------------------------------------------------------
         #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]
         8       1000          0.82           12.46        0.91                0.95             0.21            1.35                    12.46
        ---------------------------------------------------------------------------------------
        """
            .lines()
            .toList();
    assertThat(Perftest.latencies(said, 8)).isEqualTo(new Latencies(0.91, 1.35, 0.82, 0.95));
  }

  @Test
  void theBandwidthIsTheAverageInMebibytes() {
    List<String> said =
        """
         #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
         65536      1000             62.50              31.25                0.000500
        """
            .lines()
            .toList();
    Latencies latencies = Perftest.latencies(said, 65536);
    assertThat(latencies.p50Micros()).isCloseTo(2000, within(1e-9));
    assertThat(latencies.minMicros()).isCloseTo(1000, within(1e-9));
  }

  @Test
  void outputWithoutFiguresFails() {
    assertThatExceptionOfType(PerfException.Failed.class)
        .isThrownBy(() -> Perftest.latencies(List.of(" 8 1000 soon 1 1 1 1 1 1"), 8))
        .withMessageContaining("soon");
    assertThatExceptionOfType(PerfException.Failed.class)
        .isThrownBy(() -> Perftest.latencies(List.of(" 16 1000 1 1 1"), 8))
        .withMessageContaining("no figures for 8 B");
  }

  @Test
  void perftestUsesTheDeviceAndAddressOfWeft() {
    assertThat(Perftest.device(Map.of(), List.of("mlx5_1", "mlx5_2")))
        .containsExactly("-d", "mlx5_1");
    assertThat(
            Perftest.device(
                Map.of("WEFT_VERBS_PORT", "2", "WEFT_VERBS_GID_INDEX", "3"), List.of("mlx5_1")))
        .containsExactly("-d", "mlx5_1", "-i", "2", "-x", "3");
    assertThat(
            Perftest.device(
                Map.of("WEFT_VERBS_PORT", "0", "WEFT_VERBS_GID_INDEX", "-1"), List.of()))
        .isEmpty();
  }

  @ParameterizedTest
  @EnumSource(names = {"ALLREDUCE", "MESSAGES", "BANDWIDTH"})
  void anUnsupportedBenchmarkIsRefused(Benchmark benchmark) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Perftest.writes(path()).prepare(Plans.small(benchmark)))
        .withMessage("peer perftest has no %s; it has: pingpong, writes, reads", benchmark.label());
  }

  @Test
  void anotherTransportIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Perftest.sends(path()).prepare(Plans.small(Benchmark.PINGPONG)))
        .withMessage("peer perftest-send has no transport 'tcp'; allowed: verbs");
  }

  @Test
  void aMissingProgramIsNamedWithItsRemedy() {
    assertThatExceptionOfType(PerfException.Missing.class)
        .isThrownBy(() -> Perftest.writes(path()).prepare(verbs()))
        .withMessage(
            "peer perftest: there is no ib_write_bw on PATH; install it: apt-get install perftest");
  }

  @Test
  void aFailedProgramIsReportedWithItsMessage() throws IOException, InterruptedException {
    script(
        "[ \"$1\" = --version ] && echo 'Version: 6.06' && exit; echo 'no such device' >&2; exit"
            + " 4");
    MeasuredPeer.Prepared contestant = Perftest.writes(path()).prepare(verbs());
    assertThatExceptionOfType(PerfException.Failed.class)
        .isThrownBy(contestant::round)
        .withMessageContaining("peer perftest ended with status 4")
        .withMessageContaining("no such device")
        .withMessageContaining("-s 65536 -n 256 -t 64");
  }

  @Test
  void theMeasuringSideRetriesUntilTheOtherListens() throws Exception {
    // The last argument of the measuring side is the host. Its first attempt is too early.
    script(
        """
        [ "$1" = --version ] && echo 'Version: 6.06' && exit
        for last; do :; done
        if [ "$last" != 127.0.0.1 ]; then exec cat "$0.ends"; fi
        if [ ! -e "$0.tried" ]; then echo > "$0.tried"; echo "Couldn't connect to $last"; exit 1; fi
        echo > "$0.ends"
        echo ' 65536 256 40.00 20.00 0.0003'
        """);
    Path pipe = bin.resolve("ib_write_bw.ends");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    RankReport report = Perftest.writes(path()).prepare(verbs()).round();
    assertThat(report.peer()).isEqualTo("ib_write_bw 6.06");
    assertThat(report.samples()).hasSize(1);
    assertThat(report.samples().getFirst().checked()).isNull();
    assertThat(report.samples().getFirst().number("p50Micros")).isCloseTo(3125, within(1e-9));
    assertThat(bin.resolve("ib_write_bw.tried")).exists();
  }

  private SearchPath path() {
    return new SearchPath(List.of(bin));
  }

  private static MeasuringPlan verbs() {
    return Plans.over("verbs", Plans.of(Benchmark.WRITES, 2, "65536:2"));
  }

  private void script(String body) throws IOException {
    Path file = bin.resolve("ib_write_bw");
    Files.writeString(file, "#!/bin/sh\n" + body + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }
}
