// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import io.weft.file.ForeignFile;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The reader of the output of `tools/simulate traffic --json`, which is drawn with the
/// measurements.
final class SimulatedFigures {

  private static final int MOST_BYTES = 1 << 24;
  private static final JsonMapper MAPPER = new JsonMapper();

  private SimulatedFigures() {}

  /// Reads `file`. Throws `IllegalArgumentException` if it is not such an output.
  static List<TrafficFigure> read(Path file) {
    try {
      return ForeignFile.named(file)
          .text(MOST_BYTES)
          .lines()
          .map(line -> figure(file, line))
          .toList();
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "--simulated: cannot read " + file + ": " + IoErrors.reason(e), e);
    }
  }

  private static TrafficFigure figure(Path file, String line) {
    try {
      JsonNode figure = MAPPER.readTree(line);
      if (figure.path("simulated").asBoolean(false)
          && figure.path("benchmark").asString("").equals(TrafficFigure.BENCHMARK)) {
        boolean single = figure.path("requests").asString("").equals("single");
        return new TrafficFigure(
            TrafficFigure.BENCHMARK,
            single ? "weft single" : "weft",
            true,
            null,
            figure.path("workers").asInt(),
            figure.path("servers").asInt(),
            figure.path("tensors").asInt(),
            figure.path("bytes").asInt(),
            null,
            figure.path("stepsPerSecond").asDouble(),
            null,
            null,
            figure.path("requestsPerStep").asDouble(),
            null,
            null,
            null);
      }
    } catch (JacksonException e) {
      throw new IllegalArgumentException("--simulated: " + file + " has a line without JSON", e);
    }
    throw new IllegalArgumentException(
        "--simulated: " + file + " has a line that is not from tools/simulate traffic");
  }
}
