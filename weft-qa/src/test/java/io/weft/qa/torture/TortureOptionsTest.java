// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TortureOptionsTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "--harm flood | unknown harm 'flood'",
        "--times many -- weft run -- true | --times is 'many'",
        "--wrong 1 | '--wrong' is not an option",
        "--times 1 | no command"
      })
  void aWrongCommandLineIsReportedWithTheUsage(String line, String message) throws Exception {
    var out = new ByteArrayOutputStream();
    var err = new ByteArrayOutputStream();
    int code =
        Torture.run(
            List.of(line.split(" ")),
            new PrintStream(out, true, UTF_8),
            new PrintStream(err, true, UTF_8));
    assertThat(code).isEqualTo(2);
    assertThat(err.toString(UTF_8)).startsWith("torture: " + message).contains("Usage: ");
    assertThat(out.size()).isZero();
  }
}
