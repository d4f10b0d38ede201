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

class PlacementTest {

  @Test
  void ranksFillHostsInOrder() {
    List<Placement> placements = Placement.of(5, Host.parseList("a:2,b:4"));
    assertThat(placements).extracting(Placement::host).containsExactly("a", "a", "b", "b", "b");
    assertThat(placements).extracting(Placement::localRank).containsExactly(0, 1, 0, 1, 2);
    assertThat(placements).extracting(Placement::localSize).containsExactly(2, 2, 3, 3, 3);
    assertThat(placements).extracting(Placement::crossRank).containsExactly(0, 0, 1, 1, 0);
    assertThat(placements).extracting(Placement::crossSize).containsExactly(2, 2, 2, 2, 1);
  }

  @Test
  void withoutHostsAllRanksAreHere() {
    assertThat(Placement.here(3)).allMatch(Placement::isHere).hasSize(3);
    assertThat(Placement.here(3).get(2).variables())
        .containsEntry("WEFT_RANK", "2")
        .containsEntry("WEFT_SIZE", "3")
        .containsEntry("WEFT_LOCAL_RANK", "2")
        .containsEntry("WEFT_LOCAL_SIZE", "3")
        .containsEntry("WEFT_CROSS_RANK", "0")
        .containsEntry("WEFT_CROSS_SIZE", "1");
  }

  @Test
  void tooFewSlotsAreNamed() {
    assertThatThrownBy(() -> Placement.of(4, Host.parseList("a:2,b")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("-np 4 is more than the 3 slots of a:2,b:1");
  }

  @Test
  void hostFileIsRead(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("hosts");
    Files.writeString(file, "# ours\nnode1 slots=4\n\nnode2:2  # half\nuser@node3\n");
    assertThat(Host.readFile(file))
        .containsExactly(new Host("node1", 4), new Host("node2", 2), new Host("user@node3", 1));
    Files.writeString(file, "node1 slots=4\nnode2 cores=4\n");
    assertThatThrownBy(() -> Host.readFile(file)).hasMessageContaining("line 2");
    Files.writeString(file, "# none\n");
    assertThatThrownBy(() -> Host.readFile(file)).hasMessageContaining("names no host");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a:", "a:0", "a:x", "a,,b", "-oProxyCommand=x", "a b", "a;b"})
  void hostThatIsNoneIsRefused(String list) {
    assertThatThrownBy(() -> Host.parseList(list)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void exitCodesAreToldInWords() {
    assertThat(new ExitStatus(3, false)).hasToString("exit code 3");
    assertThat(new ExitStatus(137, false)).hasToString("killed by SIGKILL (exit code 137)");
    assertThat(new ExitStatus(127, true)).hasToString("command not found (exit code 127)");
    assertThat(new ExitStatus(255, true)).hasToString("ssh failed (exit code 255)");
    assertThat(new ExitStatus(255, false)).hasToString("exit code 255");
  }
}
