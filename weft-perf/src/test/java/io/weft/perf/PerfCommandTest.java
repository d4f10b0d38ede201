// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.collective.Algorithms;
import io.weft.collective.choice.AlgorithmTable;
import io.weft.perf.process.SearchPath;
import io.weft.perf.rank.RankArguments.RankCase;
import io.weft.testkit.fault.SmallDisk;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class PerfCommandTest {

  @TempDir private Path directory;

  private final List<String> order = new ArrayList<>();
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private boolean peerIsRight = true;

  /// A contestant that returns the given time at once: 10 us for Weft, 20 us for the peer.
  private MeasuredPeer peer(String name, String reported, long nanos) {
    return new MeasuredPeer() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public Prepared prepare(MeasuringPlan plan) {
        return stage -> {
          order.add(name);
          List<String> lines = new ArrayList<>(List.of("peer " + reported));
          for (RankCase one : plan.cases()) {
            lines.add(
                "times "
                    + one.bytes()
                    + (peerIsRight ? " checked" : " wrong")
                    + (" " + nanos).repeat(one.iterations()));
          }
          lines.add("done");
          return plan.report(lines);
        };
      }
    };
  }

  private int weftPerf(String... arguments) {
    PerfCommand command =
        new PerfCommand(
            peer("weft", "weft", 10_000), List.of(peer("openmpi", "openmpi 4.1.4", 20_000)));
    return new CommandLine(command)
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(arguments);
  }

  @Test
  void roundsAreInterleaved() {
    assertThat(weftPerf("allreduce", "--peer", "openmpi", "--rounds", "3")).isZero();
    assertThat(order).containsExactly("weft", "openmpi", "weft", "openmpi", "weft", "openmpi");
    assertThat(err.toString()).contains("round 3 of 3: weft, openmpi");
    assertThat(out.toString()).contains("64 MiB").contains("2.00");
  }

  @Test
  void jsonHasOneObjectPerLineWithTheFieldsOfTheContract() throws IOException {
    Path file = directory.resolve("figures.jsonl");
    assertThat(
            weftPerf(
                "allreduce",
                "-np",
                "4",
                "--bytes",
                "4,1M",
                "--peer",
                "openmpi",
                "--json",
                file.toString()))
        .isZero();
    List<String> lines = Files.readAllLines(file);
    assertThat(lines).hasSize(4);
    JsonNode last = new JsonMapper().readTree(lines.getLast());
    assertThat(last.propertyNames())
        .filteredOn(name -> !name.equals("roundHandoverNanos"))
        .containsExactly(
            "benchmark",
            "peer",
            "transport",
            "ranks",
            "bytes",
            "iterations",
            "rounds",
            "p50Micros",
            "p99Micros",
            "minMicros",
            "meanMicros",
            "gigabytesPerSecond",
            "busGigabytesPerSecond",
            "memory",
            "roundP50Micros",
            "checked",
            "host");
    assertThat(last.get("host").propertyNames())
        .containsExactly("cpu", "cores", "memory", "kernel", "jdk", "loadAverage");
    JsonNode handovers = last.get("roundHandoverNanos"); // none where there is one processor
    assertThat(handovers == null ? last.get("rounds").asInt() : handovers.size())
        .isEqualTo(last.get("rounds").asInt());
    assertThat(last.get("peer").asString()).isEqualTo("openmpi 4.1.4");
    assertThat(last.get("ranks").asInt()).isEqualTo(4);
    assertThat(last.get("busGigabytesPerSecond").asDouble()).isEqualTo(78.6432);
    assertThat(last.get("checked").asBoolean()).isTrue();
  }

  @Test
  void anExplanationMeasuresNothing() {
    assertThat(weftPerf("allreduce", "-np", "4", "--bytes", "4..64M", "--explain")).isZero();
    assertThat(order).isEmpty();
    assertThat(out.toString())
        .startsWith("allreduce, 4 ranks on this host, tcp")
        .containsPattern(
            " 4 B +wire +recursive-doubling +128 KiB x 4 +eager 64 KiB +algorithms.txt, line"
                + " [0-9]+: allreduce")
        .containsPattern("256 KiB +wire +nested-direct ")
        .containsPattern("64 MiB +wire +ring ");
  }

  @Test
  void anExplanationIsWrittenAsJson() throws IOException {
    Path file = directory.resolve("choices.jsonl");
    assertThat(weftPerf("allreduce", "--bytes", "4,16M", "--explain", "--json", file.toString()))
        .isZero();
    JsonNode last = new JsonMapper().readTree(Files.readAllLines(file).getLast());
    assertThat(last.propertyNames())
        .containsExactly(
            "bytes",
            "way",
            "algorithm",
            "segmentBytes",
            "inFlight",
            "eagerBytes",
            "rule",
            "reason");
    assertThat(last.get("bytes").asLong()).isEqualTo(16 << 20);
    assertThat(last.get("way").asString()).isEqualTo("wire");
    assertThat(last.get("segmentBytes").asLong()).isEqualTo(128 << 10);
    assertThat(last.get("eagerBytes").asLong()).isEqualTo(64 << 10);
  }

  @Test
  void theChoiceDependsOnAccessToTheTensors() {
    MeasuringPlan own = Plans.shared(Plans.of(Benchmark.ALLREDUCE, 2, "4:1", "65536:1"));
    MeasuringPlan apart = Plans.of(Benchmark.ALLREDUCE, 2, "65536:1", "536870912:1");
    AlgorithmTable table = Algorithms.table(Optional.empty());
    assertThat(new Explanation(own, true, true, 8 << 10, table).lines())
        .extracting(it -> it.text("way"))
        .containsExactly("mailbox", "mapped");
    assertThat(new Explanation(apart, true, true, 8 << 10, table).lines())
        .as("by way of a bounce buffer")
        .extracting(it -> it.text("way"))
        .containsExactly("mapped", "mapped");
    assertThat(new Explanation(apart, false, false, 64 << 10, table).lines())
        .extracting(it -> it.text("way"))
        .containsExactly("wire", "wire");
  }

  @Test
  void aBenchmarkWithoutCollectivesHasNoAlgorithm() {
    assertThat(weftPerf("bandwidth", "--explain")).isZero();
    assertThat(out.toString()).contains("bandwidth runs no collective");
  }

  @Test
  void messagesAreCountedAndTimed() throws IOException {
    Path file = directory.resolve("figures.jsonl");
    assertThat(
            weftPerf("messages", "--peer", "openmpi", "--rounds", "2", "--json", file.toString()))
        .isZero();
    JsonNode weft = new JsonMapper().readTree(Files.readAllLines(file).getFirst());
    // 2048 replies in 10 microseconds.
    assertThat(weft.get("messagesPerSecond").asDouble()).isEqualTo(2.048e8);
    assertThat(weft.get("outstanding").asInt()).isEqualTo(256);
    assertThat(weft.get("bytes").asInt()).isEqualTo(64);
    assertThat(out.toString()).contains("256 outstanding").contains("204.800").contains("102.400");
  }

  @Test
  void aWrongResultIsReportedAndFails() throws IOException {
    peerIsRight = false;
    Path file = directory.resolve("figures.jsonl");
    assertThat(weftPerf("allreduce", "--bytes", "4", "--json", file.toString())).isEqualTo(1);
    assertThat(err.toString()).contains("weft gave a wrong result: allreduce of 4 B on 2 ranks");
    assertThat(Files.readString(file)).contains("\"checked\":false");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          allreduce -np 0                | -np: 0 is out of range; allowed: 1 to 180
          allreduce -np two              | -np
          scan                           | allowed: allreduce, broadcast
          pingpong -np 3                 | -np: pingpong is between 2 ranks, not 3
          messages --outstanding 0       | --outstanding: 0 is out of range; allowed: 1 to 65536
          messages --bytes 8             | --bytes: a message of 8 B is too short for its number
          allreduce --tensors elsewhere  | --tensors: unknown memory 'elsewhere'; allowed: own, private
          pingpong --tensors own         | --tensors: pingpong has no tensors
          sendrecv --tensors own         | --tensors: 'own'; allowed for sendrecv: numbers from 1 to 1000
          sendrecv --tensors 1,1001      | --tensors: '1,1001'; allowed for sendrecv: numbers from 1 to 1000
          sendrecv --bytes 2G            | --bytes: tensors of sendrecv are whole floats
          sendrecv -np 3                 | -np: sendrecv is between 2 ranks, not 3
          allreduce --peer ucx           | --peer: unknown peer 'ucx'; allowed: openmpi
          allreduce --transport carrier  | --transport: unknown transport 'carrier'; allowed: tcp, shm
          allreduce --bytes 4..x         | --bytes: 'x' in '4..x' is not a size
          allreduce --rounds 0           | --rounds: 0 is out of range
          allreduce --iterations 0       | --iterations: 0 is out of range
          allreduce --plot curve.pdf     | --plot: curve.pdf must end in .svg or .png
          allreduc                       | unknown benchmark 'allreduc'; did you mean allreduce? allowed: allreduce, broadcast
          scan                           | registration, sendrecv, wide-deep-traffic
          allreduce --json /tmp          | --json: cannot write /tmp: it is a directory, not a regular file
          allreduce --json no/where.json | --json: cannot write no/where.json
          allreduce --json /dev/null     | --json: cannot write /dev/null
          allreduce --json a.svg --plot a.svg | --json and --plot: both are a.svg
          allreduce --fast               | Unknown option
          """)
  void aWrongCommandLineIsRefusedWithTheAllowedValues(String arguments, String message) {
    assertThat(weftPerf(arguments.split(" "))).isEqualTo(2);
    assertThat(err.toString()).contains(message);
    assertThat(order).isEmpty();
  }

  @Test
  void aCommandLineWithoutABenchmarkIsRefused() {
    assertThat(weftPerf()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          openmpi | allreduce | there is no mpirun on PATH | apt-get install openmpi-bin libopenmpi-dev gcc
          gloo    | allreduce | there is no g++ on PATH    | apt-get install libgloo-dev g++
          memcpy  | bandwidth | there is no gcc on PATH    | apt-get install gcc libc6-dev
          c       | messages  | there is no gcc on PATH    | apt-get install gcc libc6-dev
          """)
  void aMissingProgramIsNamedWithItsRemedy(
      String name, String benchmark, String missing, String remedy) {
    SearchPath nowhere = new SearchPath(List.of(directory));
    PerfCommand command =
        new PerfCommand(peer("weft", "weft", 10_000), PerfCommand.peers(nowhere, directory));
    int exit =
        new CommandLine(command)
            .setErr(new PrintWriter(err, true))
            .execute(benchmark, "--peer", name);
    assertThat(exit).isEqualTo(3);
    assertThat(err.toString()).contains(missing).contains(remedy);
    assertThat(order).isEmpty();
  }

  @Test
  void aBarrierIsDrawnWithoutBandwidth() throws IOException {
    Path png = directory.resolve("barrier.png");
    assertThat(weftPerf("barrier", "--peer", "openmpi", "--plot", png.toString())).isZero();
    assertThat(javax.imageio.ImageIO.read(png.toFile()).getWidth()).isLessThan(2000);
    assertThat(out.toString()).contains("2.00");
  }

  @Test
  void curvesAreDrawnAsSvgAndPng() throws IOException {
    Path svg = directory.resolve("curves.svg");
    Path png = directory.resolve("curves.png");
    assertThat(weftPerf("allreduce", "--peer", "openmpi", "--plot", svg.toString())).isZero();
    assertThat(weftPerf("allreduce", "--peer", "openmpi", "--plot", png.toString())).isZero();
    assertThat(Files.readString(svg).lines().filter(line -> line.contains("<ellipse")))
        .as("markers: two panels, two curves, 13 sizes and one in the legend")
        .hasSize(2 * 2 * 14);
    assertThat(javax.imageio.ImageIO.read(png.toFile()).getWidth()).isGreaterThan(1000);
  }

  @Test
  void aFullDiskLosesNeitherTheTableNorTheOtherFile() throws IOException {
    Path plot = directory.resolve("curves.svg");
    Optional<SmallDisk> mounted = SmallDisk.on(Files.createDirectory(directory.resolve("disk")), 4);
    assumeTrue(mounted.isPresent(), "no disk can be mounted here");
    try (SmallDisk disk = mounted.get()) {
      Path json = disk.directory().resolve("report.jsonl");
      Files.write(disk.directory().resolve("all"), new byte[4096]);
      assertThat(
              weftPerf(
                  "allreduce",
                  "--bytes",
                  "4",
                  "--json",
                  json.toString(),
                  "--plot",
                  plot.toString()))
          .isEqualTo(1);
      assertThat(out.toString()).contains("allreduce");
      assertThat(err.toString())
          .contains("weft: cannot write --json " + json + ": No space left on device");
      assertThat(disk.directory()).isDirectoryNotContaining("glob:**report*");
    }
    assertThat(plot).isNotEmptyFile();
  }
}
