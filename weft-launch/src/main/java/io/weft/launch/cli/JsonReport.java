// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.file.NewFile;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.json.JsonMapper;

/// Writes the report of a command as one JSON object.
final class JsonReport {

  private static final JsonMapper MAPPER =
      JsonMapper.builder().disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY).build();

  private JsonReport() {}

  /// Writes a record to the file of `--json`, in the order of its components; null writes nothing.
  /// Throws `ParameterException` if the file cannot be written.
  static void write(CommandSpec command, @Nullable Path file, Record report) {
    if (file == null) {
      return;
    }
    try {
      NewFile.write(
          file, (MAPPER.writeValueAsString(report) + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException unwritable) {
      throw unwritable(command, "--json", file, unwritable);
    }
  }

  static ParameterException unwritable(
      CommandSpec command, String option, Path file, IOException why) {
    return new ParameterException(
        command.commandLine(),
        option + ": cannot write " + file + ": " + IoErrors.reason(why),
        why);
  }
}
