// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class GradientsCommandTest {

  @TempDir private Path directory;

  @Test
  void fusionSavesCollectivesAndHardlyAddsBytes() throws Exception {
    var out = new StringWriter();
    Path file = directory.resolve("report");
    CommandLine line = new CommandLine(new GradientsCommand());
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(out, true));
    int code =
        line.execute(
            "--model uniform --tensors 50 --bytes 4K --fusion on,off --transport tcp --rounds 1 --steps 20"
                .concat(" --json " + file)
                .split(" "));
    assertThat(code).as(out.toString()).isZero();
    assertThat(out.toString()).contains("KB a step", "collectives", "weft, fused", "weft, single");
    List<JsonNode> figures =
        Files.readAllLines(file).stream().map(JsonMapper.builder().build()::readTree).toList();
    JsonNode fused = figures.getFirst();
    JsonNode single = figures.getLast();
    assertThat(fused.path("checked").asBoolean()).isTrue();
    assertThat(single.path("collectivesPerStep").asDouble()).isEqualTo(50);
    assertThat(fused.path("collectivesPerStep").asDouble()).isPositive().isLessThan(50);
    assertThat(single.path("bytesPerStep").asDouble()).isGreaterThanOrEqualTo(50 * 4096);
    assertThat(fused.path("bytesPerStep").asDouble()).isBetween(50 * 4096.0, 1.2 * 50 * 4096);
  }
}
