// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.report;

import io.weft.file.NewFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.json.JsonMapper;

/// A report in JSON with one object per line. Fields have the order of the record.
public final class JsonLines {

  private static final JsonMapper MAPPER =
      JsonMapper.builder().disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY).build();

  private JsonLines() {}

  /// Writes `records`, replacing `file`.
  public static void write(Path file, List<?> records) throws IOException {
    String lines =
        records.stream()
            .map(each -> MAPPER.writeValueAsString(each) + "\n")
            .collect(Collectors.joining());
    NewFile.write(file, lines.getBytes(StandardCharsets.UTF_8));
  }
}
