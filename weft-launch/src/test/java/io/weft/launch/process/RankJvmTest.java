// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RankJvmTest {

  @TempDir private Path directory;

  @Test
  void ranksStartFromAnExistingCache() throws IOException {
    Path file = directory.resolve("rank.aot");
    assertThat(RankJvm.cache(file.toString())).isEmpty();
    Files.createFile(file);
    assertThat(RankJvm.cache(file.toString())).contains("-XX:AOTCache=" + file);
    assertThat(RankJvm.cache("")).isEmpty();
  }

  @Test
  void eachRankCreatesACacheIfTheNameHasAPlaceholder() {
    assertThat(RankJvm.cache("/t/rank-%p.aot")).contains("-XX:AOTCacheOutput=/t/rank-%p.aot");
  }
}
