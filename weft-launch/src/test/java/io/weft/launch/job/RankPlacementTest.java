// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RankPlacementTest {

  @Test
  void ranksFillHostsInOrder() {
    List<RankPlacement> placements = RankPlacement.of(5, HostSlots.parseList("a:2,b:4"));
    assertThat(placements).extracting(RankPlacement::host).containsExactly("a", "a", "b", "b", "b");
    assertThat(placements).extracting(RankPlacement::localRank).containsExactly(0, 1, 0, 1, 2);
    assertThat(placements).extracting(RankPlacement::localSize).containsExactly(2, 2, 3, 3, 3);
    assertThat(placements).extracting(RankPlacement::crossRank).containsExactly(0, 0, 1, 1, 0);
    assertThat(placements).extracting(RankPlacement::crossSize).containsExactly(2, 2, 2, 2, 1);
  }

  @Test
  void withoutHostsAllRanksAreOnThisHost() {
    assertThat(RankPlacement.here(3)).allMatch(RankPlacement::isHere).hasSize(3);
    assertThat(RankPlacement.here(3).get(2).variables())
        .containsEntry("WEFT_RANK", "2")
        .containsEntry("WEFT_SIZE", "3")
        .containsEntry("WEFT_LOCAL_RANK", "2")
        .containsEntry("WEFT_LOCAL_SIZE", "3")
        .containsEntry("WEFT_CROSS_RANK", "0")
        .containsEntry("WEFT_CROSS_SIZE", "1");
  }

  @Test
  void tooFewSlotsAreNamed() {
    assertThatThrownBy(() -> RankPlacement.of(4, HostSlots.parseList("a:2,b")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("-np 4 is more than the 3 slots of a:2,b:1");
  }

  @Test
  void hostFileIsRead(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("hosts");
    Files.writeString(file, "# ours\nnode1 slots=4\n\nnode2:2  # half\nuser@node3\n");
    assertThat(HostSlots.readFile(file))
        .containsExactly(
            new HostSlots("node1", 4), new HostSlots("node2", 2), new HostSlots("user@node3", 1));
    Files.writeString(file, "node1 slots=4\nnode2 cores=4\n");
    assertThatThrownBy(() -> HostSlots.readFile(file)).hasMessageContaining("line 2");
    Files.writeString(file, "# none\n");
    assertThatThrownBy(() -> HostSlots.readFile(file)).hasMessageContaining("names no host");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a:", "a:0", "a:x", "a,,b", "-oProxyCommand=x", "a b", "a;b"})
  void malformedHostListIsRefused(String list) {
    assertThatThrownBy(() -> HostSlots.parseList(list))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void exitStatusIsDescribedInWords() {
    assertThat(new ExitStatus(3, false)).hasToString("exit code 3");
    assertThat(new ExitStatus(137, false)).hasToString("killed by SIGKILL (exit code 137)");
    assertThat(new ExitStatus(127, true)).hasToString("command not found (exit code 127)");
    assertThat(new ExitStatus(255, true)).hasToString("ssh failed (exit code 255)");
    assertThat(new ExitStatus(255, false)).hasToString("exit code 255");
  }
}
