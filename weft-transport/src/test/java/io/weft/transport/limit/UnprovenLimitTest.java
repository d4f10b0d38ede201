// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks which unproven connections are dropped when there are too many.
class UnprovenLimitTest {

  private static final int ROOM = 8;

  private final UnprovenLimit<Integer> room = new UnprovenLimit<>(ROOM);
  private final List<Integer> dropped = new ArrayList<>();

  private void admit(int who, String source) {
    room.admit(who, source).ifPresent(dropped::add);
  }

  private void admit(int from, int to, String source) {
    for (int who = from; who < to; who++) {
      admit(who, source);
    }
  }

  @ParameterizedTest
  @CsvSource({"0, 5", "60, 5", "61, 5", "72, 6", "600, 50", "9223372036854775807, 192153584"})
  void theHandshakeTimeoutGrowsWithTheConnectTimeout(long connectingSeconds, long timeoutSeconds) {
    assertThat(UnprovenLimit.handshakeTimeout(Duration.ofSeconds(connectingSeconds)).toSeconds())
        .isEqualTo(timeoutSeconds);
  }

  @Test
  void theOldestOfEqualConnectionsIsDropped() {
    admit(0, ROOM, "a");
    assertThat(room.admit(100, "a")).isEqualTo(Optional.of(0));
    assertThat(room.admit(101, "a")).isEqualTo(Optional.of(1));
    assertThat(room.guests()).containsExactly(2, 3, 4, 5, 6, 7, 100, 101);
  }

  @Test
  void aFloodFromOneSourceDropsOnlyItsOwnConnections() {
    admit(1, "honest");
    admit(100, 10_000, "hostile");
    assertThat(room.guests()).contains(1).hasSize(ROOM);
    assertThat(dropped).doesNotContain(1);
  }

  @Test
  void silentConnectionsDoNotDisplaceOneThatSpoke() {
    admit(1, "same");
    room.spoke(1);
    admit(100, 10_000, "same");
    assertThat(room.guests()).contains(1);
  }

  @Test
  void speakingConnectionsLeaveRoomForASilentOne() {
    for (int who = 100; who < 10_000; who++) {
      admit(who, "same");
      room.spoke(who);
    }
    admit(1, "same");
    for (int who = 10_000; who < 10_000 + ROOM / 2 - 1; who++) {
      admit(who, "same");
    }
    assertThat(room.guests()).as("half of the room is for the silent").contains(1);
  }

  @Test
  void manySourcesAreTreatedAsOne() {
    for (int who = 0; who < 1000; who++) {
      admit(who, "source " + who);
      if (who == 1) {
        room.spoke(who);
      }
    }
    assertThat(room.guests()).hasSize(ROOM).contains(1, 999);
  }

  @Test
  void aConnectionThatLeavesMakesRoom() {
    admit(0, ROOM, "a");
    room.leave(3);
    room.leave(99);
    room.leaveIf(who -> who == 5);
    admit(100, "a");
    admit(101, "a");
    room.spoke(99);
    assertThat(dropped).isEmpty();
    assertThat(room.guests()).containsExactly(0, 1, 2, 4, 6, 7, 100, 101);
    assertThat(room.isEmpty()).isFalse();
  }
}
