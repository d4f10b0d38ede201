// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.order;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.cluster.SecureMode;
import io.weft.perf.experiment.ContestantRounds;
import io.weft.perf.experiment.LinkedRanks;
import io.weft.perf.order.PartRun.Order;
import io.weft.perf.process.LocalRanks;
import io.weft.perf.report.Figure;
import io.weft.perf.report.RankReport;
import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.partition.GraphPartition;
import io.weft.tensorflow.partition.Partitioner;
import io.weft.tensorflow.partition.Transfer;
import io.weft.tensorflow.partition.TransferOps;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(300)
class OrderCommandTest {

  private static final Task DECODER = new Task(SplitUNet.DECODER, 0);

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... words) {
    return new CommandLine(new OrderCommand())
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(words);
  }

  @Test
  void optionsOutOfRangeAreNamed() {
    assertThat(run("--gbit", "-1")).isEqualTo(2);
    assertThat(run("--batch", "0")).isEqualTo(2);
    assertThat(run("--steps", "0")).isEqualTo(2);
    assertThat(run("--transport", "shm")).isEqualTo(2);
    assertThat(err.toString())
        .contains("--gbit: -1.0", "--batch: 0", "--steps: 0", "only tcp connects");
  }

  private static Map<String, Long> urgencies(GraphDef part) {
    Map<String, Long> urgencies = new HashMap<>();
    for (NodeDef node : part.getNodeList()) {
      if (node.getOp().equals(TransferOps.RECEIVE)) {
        urgencies.put(node.getName(), node.getAttrOrThrow(TransferOps.URGENCIES).getList().getI(0));
      }
    }
    return urgencies;
  }

  /// The deepest activation is the most urgent one, and the longest one the least.
  @Test
  void theActivationsOfADecoderAreNeededInTheOppositeOrder() {
    GraphPartition partition =
        new Partitioner(
                ClusterSpec.of(
                    Map.of(SplitUNet.ENCODER, List.of("a:1"), SplitUNet.DECODER, List.of("b:1"))),
                DECODER)
            .partition(SplitUNet.split(1).graph(), SplitUNet.STEP.fetches());
    GraphDef part = partition.parts().get(DECODER);
    Map<String, Long> need = urgencies(Order.NEED.of(part));
    List<Long> byLength =
        partition.transfers().stream()
            .sorted(
                (one, other) ->
                    Long.compare(
                        one.shape().getDim(1).getSize(), other.shape().getDim(1).getSize()))
            .map(Transfer::receive)
            .map(need::get)
            .toList();
    assertThat(byLength).hasSize(4);
    for (int i = 1; i < byLength.size(); i++) {
      assertThat(byLength.get(i)).as("%s", byLength).isLessThan(byLength.get(i - 1));
    }
    assertThat(urgencies(Order.READINESS.of(part)).values()).containsOnly(0L);
  }

  @Test
  void figuresAreThoseOfAllStepsInAnOrder() {
    RankReport report =
        RankReport.parse(
            List.of(
                "peer weft",
                "times need checked 1000000 3000000 2000000",
                "times readiness checked 4000000 4000000 5000000",
                "done"));
    LinkedRanks ranks =
        new LinkedRanks(new LocalRanks(OrderRank.class, 2, 1), "tcp", SecureMode.OFF, 0.5);
    ContestantRounds ran = new ContestantRounds("weft", List.of(report));
    Figure need = OrderCommand.figure(ran, Order.NEED, 1_000_000, ranks);
    Figure readiness = OrderCommand.figure(ran, Order.READINESS, 1_000_000, ranks);
    assertThat(need.text("order")).isEqualTo("need");
    assertThat(need.number("p50Micros")).isEqualTo(2000);
    assertThat(need.number("minMicros")).isEqualTo(1000);
    assertThat(need.number("meanMicros")).isEqualTo(2000);
    assertThat(readiness.number("p50Micros")).isEqualTo(4000);
    assertThat(OrderCommand.table(List.of(need, readiness)))
        .contains("tcp at 0.5 Gbit/s, 1.0 MB")
        .contains("takes 0.50 of one");
  }

  @Test
  @Tag("long")
  void bothOrdersHaveTheResultOfOneProcess(@TempDir Path directory) throws Exception {
    Path json = directory.resolve("order.jsonl");
    int code =
        run(
            "--gbit",
            "0",
            "--transport",
            "shm",
            "--batch",
            "1",
            "--steps",
            "2",
            "--rounds",
            "1",
            "--json",
            json.toString());
    assertThat(code).as("%s", err).isZero();
    List<String> lines = Files.readAllLines(json);
    assertThat(lines).hasSize(2);
    for (String line : lines) {
      JsonNode figure = new JsonMapper().readTree(line);
      assertThat(figure.path("benchmark").asString()).isEqualTo("order");
      assertThat(figure.path("checked").asBoolean()).isTrue();
      assertThat(figure.path("iterations").asInt()).isEqualTo(2);
    }
  }
}
