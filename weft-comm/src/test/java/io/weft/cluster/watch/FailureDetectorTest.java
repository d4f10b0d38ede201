// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.watch;

import static io.weft.cluster.watch.FailureDetector.Finding.FINE;
import static io.weft.cluster.watch.FailureDetector.Finding.HEARTBEAT_DUE;
import static io.weft.cluster.watch.FailureDetector.Finding.SILENT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.agent.PolledClock;
import io.weft.cluster.watch.FailureDetector.Finding;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/// Checks how rank 0 watches peer 1 of two in virtual time, with one duty cycle every 10 ms.
class FailureDetectorTest {

  private static final long MILLI = 1_000_000;
  private static final Heartbeat DEFAULT =
      Heartbeat.of(Duration.ofSeconds(1), Duration.ofSeconds(5));

  private final PolledClock clock = new PolledClock();
  private FailureDetector detector = new FailureDetector(DEFAULT);
  private long now = 123;
  private long received;
  private long sent;
  private int heartbeats;

  private void begin(Heartbeat heartbeat) {
    detector = new FailureDetector(heartbeat);
    clock.update(now);
    detector.begin(1, now, clock.nanos());
  }

  /// Runs one duty cycle; a heartbeat that is due is sent at once.
  private Finding cycle() {
    now += 10 * MILLI;
    return look();
  }

  private Finding look() {
    clock.update(now);
    if (!detector.isDue(now)) {
      return FINE;
    }
    Finding found = detector.look(1, received, sent, now, clock.nanos());
    if (found == HEARTBEAT_DUE) {
      heartbeats++;
      sent += 40;
    }
    return found;
  }

  /// Runs duty cycles until the peer is found silent, for at most one minute. Returns the
  /// milliseconds.
  private long untilSilent() {
    long start = now;
    while (cycle() != SILENT) {
      assertThat(now - start).isLessThan(60_000 * MILLI);
    }
    return (now - start) / MILLI;
  }

  private void runFor(long millis, Runnable each) {
    for (long end = now + millis * MILLI; now < end; ) {
      assertThat(cycle()).isNotEqualTo(SILENT);
      each.run();
    }
  }

  @Test
  void aSilentPeerIsDetectedJustAfterTheLimit() {
    begin(DEFAULT);
    runFor(1500, () -> received++);
    assertThat(untilSilent()).isBetween(4_990L, 5_150L);
    assertThat(detector.silence(1, clock.nanos())).isBetween(5_000 * MILLI, 5_150 * MILLI);
    assertThat(now - detector.heardNanos(1)).isBetween(5_000 * MILLI, 5_150 * MILLI);
  }

  @Test
  void anyByteIsASignOfLife() {
    begin(DEFAULT);
    long[] last = {now};
    runFor(
        20_000,
        () -> {
          if (now - last[0] >= 4_700 * MILLI) {
            last[0] = now;
            received++;
          }
        });
  }

  @Test
  void anIdlePeerGetsAHeartbeatEverySecond() {
    begin(DEFAULT);
    runFor(10_000, () -> received++);
    assertThat(heartbeats).isBetween(10, 12);
  }

  @Test
  void noHeartbeatIsSentWhileOtherDataIsSent() {
    begin(DEFAULT);
    runFor(
        10_000,
        () -> {
          received++;
          sent++;
        });
    assertThat(heartbeats).isZero();
    assertThat(now - detector.sentNanos(1)).isLessThan(130 * MILLI);
  }

  @Test
  void aLocalStandstillDoesNotCountAsSilenceOfPeers() {
    begin(DEFAULT);
    runFor(1000, () -> received++);
    now += 60_000 * MILLI;
    assertThat(look()).isEqualTo(HEARTBEAT_DUE);
    assertThat(untilSilent()).isBetween(4_800L, 5_150L);
  }

  @Test
  void aHeartbeatIsDueInRealTimeAfterALocalStandstill() {
    begin(DEFAULT);
    runFor(100, () -> received++);
    now += 900 * MILLI;
    assertThat(look()).isEqualTo(HEARTBEAT_DUE);
  }

  @Test
  void aMachineThatKeepsStallingStillDetectsASilentPeer() {
    begin(DEFAULT);
    long start = now;
    Finding found = FINE;
    while (found != SILENT && now - start < 60_000 * MILLI) {
      now += 150 * MILLI;
      found = look();
    }
    assertThat(found).isEqualTo(SILENT);
    assertThat(now - start).isBetween(7_400 * MILLI, 8_000 * MILLI);
  }

  @Test
  void aBackwardJumpOfTheClockDelaysNothing() {
    begin(DEFAULT);
    runFor(2_000, () -> received++);
    int before = heartbeats;
    now -= 100_000 * MILLI;
    assertThat(look()).isEqualTo(HEARTBEAT_DUE);
    assertThat(untilSilent()).isBetween(4_800L, 5_150L);
    assertThat(heartbeats - before).isBetween(5, 7);
  }

  @Test
  void withoutHeartbeatsNothingIsSentAndNoPeerIsSilent() {
    begin(Heartbeat.OFF);
    runFor(100_000, () -> {});
    assertThat(heartbeats).isZero();
    received++;
    runFor(1_000, () -> {});
    assertThat(now - detector.heardNanos(1)).isLessThan(1_000 * MILLI);
  }

  @Test
  void withoutALimitHeartbeatsAreSentAndNoPeerIsSilent() {
    begin(Heartbeat.of(Duration.ofSeconds(1), Duration.ZERO));
    runFor(10_000, () -> {});
    assertThat(heartbeats).isBetween(10, 12);
  }

  @Test
  void limitBelowTwoHeartbeatsIsRefused() {
    assertThatThrownBy(() -> new Heartbeat(1000, 1999))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(new Heartbeat(0, 1999)).isEqualTo(Heartbeat.OFF);
    assertThat(new Heartbeat(1000, 2000).limitNanos()).isEqualTo(2000);
  }
}
