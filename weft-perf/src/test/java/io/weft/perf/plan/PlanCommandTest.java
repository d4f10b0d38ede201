// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weft.launch.cli.Subcommand;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(300)
class PlanCommandTest {

  @TempDir private Path directory;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private static CommandLine plan() {
    return ServiceLoader.load(Subcommand.class).stream()
        .map(each -> each.get().commandLine())
        .filter(each -> each.getCommandName().equals("plan"))
        .findFirst()
        .orElseThrow();
  }

  private int run(String words) {
    return plan()
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(words.strip().split(" +"));
  }

  private Path file(String text) throws Exception {
    return Files.writeString(directory.resolve("net.txt"), text);
  }

  private static JsonNode read(Path json) throws Exception {
    return new JsonMapper().readTree(Files.readString(json));
  }

  @Test
  void theUsageTeaches() {
    assertThat(plan().getUsageMessage())
        .contains("weft plan wide-deep --link 10g", "rdma-25g", "NAME SHAPE", "docs/plan.md");
  }

  @Test
  void aListOfTensorsIsPlannedInWordsAsFiguresAndAsCurves() throws Exception {
    Path json = directory.resolve("plan.json");
    Path plot = directory.resolve("plan.svg");
    Path net = file("conv1 5x5x1x32 784\ndense1 3136x1024\ndense2 1024x10\n");
    int code =
        run(
            "--tensors %s --step-millis 50 --link 1g --ranks 1..6 --json %s --plot %s"
                .formatted(net, json, plot));
    assertThat(code).as("%s", err).isZero();
    assertThat(out.toString()).contains("net.txt: 3 tensors", "(given)", "Recommended: ");
    JsonNode figure = read(json);
    assertThat(figure.path("link").asString()).isEqualTo("1g");
    assertThat(figure.path("choice").asString()).isIn("allreduce", "servers");
    assertThat(figure.path("reason").asString()).contains("on 6 ranks");
    assertThat(figure.path("ranks")).hasSize(4);
    JsonNode first = figure.path("ranks").get(0);
    assertThat(first.path("ranks").asInt()).isEqualTo(1);
    JsonNode last = figure.path("ranks").get(3);
    assertThat(last.path("ranks").asInt()).isEqualTo(6);
    assertThat(last.path("stepMillis").asDouble()).isGreaterThan(50);
    assertThat(last.path("efficiency").asDouble())
        .isBetween(0.99 * 50 / last.path("stepMillis").asDouble(), 1.0);
    assertThat(Files.readString(plot)).contains("<svg");
  }

  @Test
  void aPublishedNetworkIsPlannedWithSlowRanksAndImagesASecond() throws Exception {
    Path json = directory.resolve("plan.json");
    String words = "resnet101 --link 25g --ranks 1,128 --ranks-per-host 4 --processors 0 --json ";
    assertThat(run(words + json + " --spread 5")).as("%s", err).isZero();
    assertThat(out.toString()).contains("resnet101: 314 tensors", "5.0 %", "the slowest rank");
    JsonNode figure = read(json);
    assertThat(figure.path("spreadPercent").asDouble()).isEqualTo(5);
    JsonNode last = figure.path("ranks").get(1);
    assertThat(last.path("efficiency").asDouble()).isBetween(0.85, 0.9);
    assertThat(last.path("samplesPerSecond").asDouble())
        .isBetween(0.85 * 128 * 136, 0.9 * 128 * 136);
    assertThat(run("resnet101 --batch-per-rank 8")).isEqualTo(2);
    assertThat(err.toString()).contains("64 examples; give --step-millis");
    assertThat(run("resnet101 --spread 101")).isEqualTo(2);
    assertThat(err.toString()).contains("--spread: 101.0 is out of range");
  }

  @Test
  void aWorkloadIsPlannedFromItsVariables() throws Exception {
    Path json = directory.resolve("plan.json");
    assertThat(run("wide-deep --step-millis 30 --ranks 1..64 --json " + json))
        .as("%s", err)
        .isZero();
    JsonNode figure = read(json);
    assertThat(figure.path("workload").asString()).isEqualTo("wide-deep");
    assertThat(figure.path("tensors").asInt()).isEqualTo(406);
    assertThat(figure.path("batchPerRank").asInt()).isEqualTo(128);
    assertThat(figure.path("ranks")).hasSize(7);
    assertThat(figure.path("ranks").get(0).path("allreduceMillis").asDouble()).isEqualTo(30);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "mnist-rnn --step-millis 5 | no workload 'mnist-rnn'; allowed: mnist-dnn",
        "alexnet --link 100g | --link: unknown link '100g'; allowed: 1g, 10g",
        "alexnet --step-millis -5 | --step-millis: -5.0 is out of range",
        "alexnet --step-millis 0 | --step-millis: 0.0 is out of range",
        "alexnet --step-millis NaN | --step-millis: NaN is out of range",
        "alexnet --step-millis Infinity | --step-millis: Infinity is out of range",
        "alexnet --seconds NaN | --seconds: NaN is out of range",
        "alexnet --ranks 0 | --ranks: 0 is out of range; allowed: 1 to 4096",
        "alexnet --ranks 8..2 | --ranks: the range 8..2 is empty",
        "alexnet --ranks two | --ranks: 'two' in 'two'; write a list or a range",
        "alexnet --ranks-per-host 0 | --ranks-per-host: 0",
        "alexnet --processors -1 | --processors: -1",
        "alexnet --batch-per-rank 0 | --batch-per-rank: 0",
        "alexnet --ranks-at-once 0 | --ranks-at-once: 0",
        "alexnet --plot plan.pdf | must end in .svg or .png",
        "--ranks 2 | give a WORKLOAD (mnist-dnn",
        "alexnet --tensors net.txt | give a WORKLOAD (mnist-dnn",
        "--tensors net.txt | --step-millis",
        "--tensors /nowhere/net.txt --step-millis 5 | cannot read /nowhere/net.txt"
      })
  void wrongArgumentsAreNamed(String words, String message) {
    assertThat(run(words)).isEqualTo(2);
    assertThat(err.toString()).contains(message);
  }

  @Test
  void malformedAndEmptyListsAreRefused() throws Exception {
    assertThat(run("--step-millis 5 --tensors " + file("dense1 784,200\n"))).isEqualTo(2);
    assertThat(run("--step-millis 5 --tensors " + file(""))).isEqualTo(2);
    assertThat(err.toString()).contains("line 1: 'dense1 784,200'", "has 0 tensors");
  }

  @Test
  void rangesOfRanksAreThePowersOfTwoBetweenTheirEnds() {
    assertThat(PlanCommand.counts("1..64")).containsExactly(1, 2, 4, 8, 16, 32, 64);
    assertThat(PlanCommand.counts("12,3..9")).containsExactly(3, 4, 8, 9, 12);
    assertThatIllegalArgumentException().isThrownBy(() -> PlanCommand.counts("1..9999"));
  }

  @Test
  @Tag("long")
  void theStepOfOneRankIsMeasured() throws Exception {
    Path json = directory.resolve("plan.json");
    assertThat(run("adult-dnn --seconds 8 --ranks 1..4 --json " + json)).as("%s", err).isZero();
    JsonNode figure = read(json);
    assertThat(figure.path("oneRankStepMillis").asDouble()).isPositive();
    assertThat(figure.path("host").isMissingNode()).isFalse();
    assertThat(figure.path("busyStepMillis").asDouble()).isPositive();
    assertThat(out.toString()).contains("(measured)", "ranks train at once");
  }
}
