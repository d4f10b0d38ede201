// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import io.weft.file.ForeignFile;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A point of the plot, measured or simulated.
///
/// @param curve name of its curve
/// @param microseconds time of a request: the measured median or the simulated mean
record KvPoint(String curve, int workers, double requestsPerSecond, double microseconds) {

  private static final int MOST_BYTES = 1 << 24;
  private static final JsonMapper MAPPER = new JsonMapper();

  /// Returns the point of a measured figure.
  static KvPoint of(KvFigure figure) {
    return new KvPoint(
        figure.curve(), figure.workers(), figure.requestsPerSecond(), figure.p50Micros());
  }

  /// Reads the output of `tools/simulate kv --json`. Throws `IllegalArgumentException` for another
  /// file.
  static List<KvPoint> simulated(Path file) {
    try {
      return ForeignFile.named(file)
          .text(MOST_BYTES)
          .lines()
          .map(line -> point(file, line))
          .toList();
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "--simulated: cannot read " + file + ": " + IoErrors.reason(e), e);
    }
  }

  private static KvPoint point(Path file, String line) {
    try {
      JsonNode figure = MAPPER.readTree(line);
      if (figure.path("simulated").asBoolean(false)
          && figure.path("benchmark").asString("").equals("kv")) {
        return new KvPoint(
            "simulated, servers: %d, window %d, %,d keys"
                .formatted(
                    figure.path("servers").asInt(),
                    figure.path("window").asInt(),
                    figure.path("pairs").asInt()),
            figure.path("workers").asInt(),
            figure.path("requestsPerSecond").asDouble(),
            figure.path("meanMicros").asDouble());
      }
    } catch (JacksonException e) {
      throw new IllegalArgumentException("--simulated: " + file + " has a line without JSON", e);
    }
    throw new IllegalArgumentException(
        "--simulated: " + file + " has a line that is not from tools/simulate kv");
  }
}
