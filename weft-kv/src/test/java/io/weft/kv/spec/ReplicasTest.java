// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplicasTest {

  private static final Replicas FIRST = new Replicas(List.of(0, 1, 2), 2);

  @Test
  void aShardHasItsReplicasOnTheFirstTwoServersThatAreNotLost() {
    assertThat(FIRST.primary(1, Set.of())).isEqualTo(1);
    assertThat(FIRST.mirror(1, Set.of())).isEqualTo(2);
    assertThat(FIRST.primary(1, Set.of(1))).isEqualTo(2);
    assertThat(FIRST.mirror(1, Set.of(1))).isZero();
    assertThat(FIRST.mirror(1, Set.of(0, 1))).isEqualTo(Replicas.NONE);
    assertThat(FIRST.primary(5, Set.of(0, 1, 2))).isEqualTo(Replicas.NONE);
  }

  @Test
  void aReplacementServerTakesTheShardsOfItsPlace() {
    Replicas next = FIRST.replaced(1, 7);
    assertThat(next.version()).isEqualTo(1);
    assertThat(next.primary(1, Set.of(1))).isEqualTo(7);
    assertThat(next.mirror(0, Set.of(1))).isEqualTo(7);
    assertThat(next.mirror(1, Set.of(1))).isEqualTo(2);
    assertThat(next.replaced(0, 9).primary(0, Set.of(0, 1))).isEqualTo(9);
  }

  @Test
  void aReplicaSetIsReadAsItWasWritten() {
    Replicas later = FIRST.replaced(1, 7).replaced(0, 12).replaced(1, 13);
    assertThat(later.text()).isEqualTo("3 3 0:12 1:13");
    assertThat(FIRST.after(later.text())).isEqualTo(later);
    assertThat(later.after(FIRST.text())).isEqualTo(FIRST);
  }

  @Test
  void theTextOfAReplicaSetNamesItsLostServers() {
    Replicas later = FIRST.replaced(1, 12);
    String text = later.text(Set.of(1, 2, 12));
    assertThat(text).isEqualTo("1 3 1:12 -12 -2");
    assertThat(FIRST.after(text)).isEqualTo(later);
    assertThat(FIRST.lost(text)).containsExactly(2, 12);
    assertThat(FIRST.lost(later.text())).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "1",
        "x 3",
        "1 2",
        "-1 3",
        "1 3 0",
        "1 3 3:9",
        "1 3 0:1",
        "1 3 0:x",
        "1 3  ",
        "1 3 -1:4",
        "1 3 0:-4",
        "1 3 -",
        "1 3 -x",
        "1 3 --2",
        "99999999999 3"
      })
  void aMalformedReplicaSetIsRefusedWithAMessage(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FIRST.after(text))
        .withMessageContaining("not a replica set");
  }
}
