// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.turns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.perf.process.PerfException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class TurnSchedulerTest {

  private static final Duration LONG = Duration.ofSeconds(50);

  private final List<String> said = Collections.synchronizedList(new ArrayList<>());

  private Turns join(Path socket, int ranks) {
    return Turns.join(Map.of(Turns.VARIABLE, socket.toString()), ranks);
  }

  /// Returns a player that takes `turns` turns and then returns its name.
  private TurnScheduler.Player<String> player(String name, int turns) {
    return socket -> {
      try (Turns own = join(socket, 1)) {
        for (int turn = 1; turn <= turns; turn++) {
          said.add(name + turn);
          if (turn < turns) {
            own.passOn();
          }
        }
      }
      return name;
    };
  }

  @Test
  void onePlayerWorksWhileTheOthersWait() throws InterruptedException {
    List<String> names =
        TurnScheduler.play(
            List.of(player("a", 3), player("b", 1), player("c", 3)),
            LONG,
            n -> said.add("series " + n));
    assertThat(names).containsExactly("a", "b", "c");
    assertThat(said)
        .containsExactly(
            "series 1", "a1", "b1", "c1", "series 2", "a2", "c2", "series 3", "a3", "c3");
  }

  @Test
  void aTurnEndsWhenAllRanksHavePassedItOn() throws InterruptedException {
    CountDownLatch early = new CountDownLatch(1);
    TurnScheduler.Player<String> ofTwo =
        socket -> {
          Thread late =
              Thread.startVirtualThread(
                  () -> {
                    try (Turns own = join(socket, 2)) {
                      await(early);
                      said.add("late");
                      own.passOn();
                      said.add("late");
                    }
                  });
          try (Turns own = join(socket, 2)) {
            early.countDown();
            own.passOn();
          }
          late.join();
          return "two";
        };
    var unused = TurnScheduler.play(List.of(ofTwo, player("b", 2)), LONG, n -> {});
    assertThat(said).containsExactly("late", "b1", "late", "b2");
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void aPlayerThatNeverJoinsHasOneTurn() throws InterruptedException {
    TurnScheduler.Player<String> apart =
        socket -> {
          said.add("apart");
          return "apart";
        };
    assertThat(TurnScheduler.play(List.of(apart, player("b", 2)), LONG, n -> {}))
        .containsExactly("apart", "b");
    assertThat(said).containsExactly("apart", "b1", "b2");
  }

  @Test
  void aPlayerThatFailsEndsTheOthers() throws InterruptedException {
    CountDownLatch ended = new CountDownLatch(1);
    TurnScheduler.Player<String> patient =
        socket -> {
          try (Turns own = join(socket, 1)) {
            own.passOn();
            return "never";
          } finally {
            ended.countDown();
          }
        };
    TurnScheduler.Player<String> failing =
        socket -> {
          try (Turns own = join(socket, 1)) {
            throw new PerfException.Failed(own.hasOthers() ? "it fell over" : "it is alone");
          }
        };
    assertThatThrownBy(() -> TurnScheduler.play(List.of(patient, failing), LONG, n -> {}))
        .isInstanceOf(PerfException.Failed.class)
        .hasMessage("it fell over");
    assertThat(ended.await(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void anExceptionBetweenTurnsEndsAllPlayers() {
    assertThatThrownBy(
            () ->
                TurnScheduler.play(
                    List.of(player("a", 9)),
                    LONG,
                    n -> {
                      if (n == 2) {
                        throw new PerfException.Failed("no more");
                      }
                    }))
        .hasMessage("no more");
    assertThat(said).containsExactly("a1");
  }

  @Test
  void aPlayerThatIgnoresInterruptsIsAbandoned() {
    CountDownLatch never = new CountDownLatch(1);
    TurnScheduler.Player<String> deaf =
        socket -> {
          boolean isOver = false;
          while (!isOver) {
            try {
              isOver = never.await(20, TimeUnit.SECONDS);
            } catch (InterruptedException unheard) {
              said.add("interrupted");
            }
          }
          return "deaf";
        };
    Duration soon = Duration.ofMillis(100);
    assertThatThrownBy(() -> TurnScheduler.play(List.of(deaf), soon, soon, n -> {}))
        .isInstanceOf(PerfException.Failed.class)
        .hasMessageContaining("still ran");
    never.countDown();
  }

  @Test
  void noSocketIsLeftBehind() throws InterruptedException {
    List<Path> sockets = new ArrayList<>();
    TurnScheduler.Player<String> a = player("a", 2);
    var unused =
        TurnScheduler.play(
            List.of(
                socket -> {
                  sockets.add(socket);
                  return a.play(socket);
                }),
            LONG,
            n -> {});
    assertThat(sockets).hasSize(1).noneMatch(Files::exists);
    assertThat(sockets.getFirst().getParent()).doesNotExist();
  }

  @Test
  void aPlayerWithoutOthersAlwaysHasItsTurn() {
    try (Turns alone = Turns.join(Map.of(), 2)) {
      assertThat(alone.hasOthers()).isFalse();
      alone.passOn();
    }
  }

  @Test
  void aMissingSocketIsReported() {
    assertThatIllegalStateException()
        .isThrownBy(() -> join(Path.of("gone", "away"), 1))
        .withMessageContaining("cannot reach weft perf through WEFT_PERF_TURNS");
  }
}
