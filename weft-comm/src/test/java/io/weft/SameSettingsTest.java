// SPDX-License-Identifier: Apache-2.0
package io.weft;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SameSettingsTest {

  @TempDir Path directory;

  @Test
  void filesWithEqualTextAreEqualSettingsAtAnyPath() throws Exception {
    Path one = Files.writeString(directory.resolve("one"), "allreduce ring\n");
    Path copy = Files.writeString(directory.resolve("copy"), "allreduce ring\n");
    Path other = Files.writeString(directory.resolve("other"), "allreduce halving\n");
    assertThat(settings(one)).isEqualTo(settings(copy)).isNotEqualTo(settings(other));
  }

  @Test
  void lengthsAndLimitsAreCompared() {
    assertThat(WeftConfig.builder().build().sameOnAllRanks())
        .contains("segment-bytes=auto", "eager-bytes=auto", "silence-limit=PT5S");
  }

  private static List<String> settings(Path algorithms) {
    return WeftConfig.builder().algorithms(algorithms).build().sameOnAllRanks();
  }
}
