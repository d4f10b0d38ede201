// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.agent.Ticker;
import io.weft.cluster.store.InMemoryStore;
import io.weft.cluster.watch.ProcessIdentity;
import io.weft.comm.CommException;
import io.weft.transport.Address;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class JoinClaimTest {

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Duration SHORT = Duration.ofMillis(300);
  private static final String PREFIX = "epoch/0/meeting/0/";
  private static final String LOCK = PREFIX + "join/lock";
  private static final int SIZE = 2;
  private static final List<Address> MINE = List.of(new Address("tcp", "127.0.0.1:1"));
  private static final List<String> SETTINGS = List.of("heartbeat=1s");

  private final InMemoryStore store = new InMemoryStore();
  private final JobProcess self = JobProcess.current();

  @BeforeEach
  void begin() {
    for (int rank = 0; rank < SIZE; rank++) {
      announce(PREFIX, rank);
    }
  }

  private void announce(String prefix, int rank) {
    store.put(prefix + "member/" + rank, RankEntry.of(self, SIZE, MINE, SETTINGS).encode());
  }

  private JoinClaim take(Duration limit) throws InterruptedException {
    var launch =
        new LaunchEnvironment(
            "test",
            1,
            SIZE,
            OptionalInt.empty(),
            OptionalInt.empty(),
            Optional.of("test"),
            new StoreLocation.InProcess());
    return JoinClaim.take(Ticker.SYSTEM, store, launch, 0, self, limit);
  }

  private void hold(String... holder) {
    store.put(LOCK, String.join("\n", holder).getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void rankNumbersAreConsecutiveAndNotReused() throws Exception {
    try (JoinClaim failed = take(LONG)) {
      assertThat(failed.rank()).isEqualTo(2);
    }
    try (JoinClaim joins = take(LONG)) {
      assertThat(joins.rank()).isEqualTo(3);
      Topology members = joins.members(MINE, SETTINGS);
      assertThat(members.size()).isEqualTo(4);
      assertThat(members.members().get(2)).isEqualTo(Member.absent(2));
      assertThat(members.members().get(3).localRank()).isEqualTo(2);
      joins.joined(MINE, SETTINGS);
    }
    try (JoinClaim next = take(LONG)) {
      assertThat(next.rank()).isEqualTo(4);
      Topology members = next.members(MINE, SETTINGS);
      assertThat(members.members().get(3).addresses()).isEqualTo(MINE);
      assertThat(members.members().get(3).localRank()).isEqualTo(2);
    }
  }

  @Test
  void aSecondClaimWaitsForTheFirst() throws Exception {
    JoinClaim first = take(LONG);
    CompletableFuture<JoinClaim> second =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return take(LONG);
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    assertThat(store.awaitChange(LOCK, store.find(LOCK).orElseThrow(), SHORT)).isEmpty();
    assertThat(second).isNotDone();
    first.close();
    try (JoinClaim joins = second.get(20, TimeUnit.SECONDS)) {
      assertThat(joins.rank()).isEqualTo(3);
    }
    assertThat(store.find(LOCK).orElseThrow()).isEmpty();
  }

  @Test
  void theLockOfAnEndedProcessIsTakenAtOnce() throws Exception {
    Process ended = new ProcessBuilder("true").start();
    var identity = new ProcessIdentity(ended.pid(), 1, ProcessIdentity.local().namespace());
    assertThat(ended.waitFor(20, TimeUnit.SECONDS)).isTrue();
    hold(identity.toString(), self.host(), self.boot(), "text");
    long start = System.nanoTime();
    try (JoinClaim joins = take(LONG)) {
      assertThat(joins.rank()).isEqualTo(2);
    }
    assertThat(System.nanoTime() - start).isLessThan(LONG.toNanos() / 2);
  }

  @Test
  void localMembersWhoseProcessesHaveEndedHaveNoAddresses() throws Exception {
    Process ended = new ProcessBuilder("true").start();
    var identity = new ProcessIdentity(ended.pid(), 1, ProcessIdentity.local().namespace());
    assertThat(ended.waitFor(20, TimeUnit.SECONDS)).isTrue();
    var process = new JobProcess(identity.toString(), self.host(), self.boot(), self.processors());
    var elsewhere = new JobProcess(identity.toString(), "far", "its boot", self.processors());
    store.put(PREFIX + "member/0", RankEntry.of(process, SIZE, MINE, SETTINGS).encode());
    store.put(PREFIX + "member/1", RankEntry.of(elsewhere, SIZE, MINE, SETTINGS).encode());
    try (JoinClaim joins = take(LONG)) {
      Topology members = joins.members(MINE, SETTINGS);
      assertThat(members.members().get(0).addresses()).isEmpty();
      assertThat(members.members().get(0).host()).isEqualTo(self.host());
      assertThat(members.members().get(1).addresses()).isEqualTo(MINE);
    }
  }

  @Test
  void anUnchangedLockIsTakenAfterTheDeadline() throws Exception {
    hold("1@1@", "another host", "its boot", "text");
    long start = System.nanoTime();
    try (JoinClaim joins = take(SHORT)) {
      assertThat(joins.rank()).isEqualTo(2);
    }
    assertThat(System.nanoTime() - start).isGreaterThan(SHORT.toNanos());
    hold("anything");
    try (JoinClaim joins = take(SHORT)) {
      assertThat(joins.rank()).isEqualTo(3);
    }
  }

  @Test
  void aFormerHolderDoesNotReleaseTheLockOfAnother() throws Exception {
    JoinClaim slow = take(LONG);
    try (JoinClaim joins = take(SHORT)) {
      byte[] held = store.find(LOCK).orElseThrow();
      slow.close();
      assertThat(store.find(LOCK).orElseThrow()).isEqualTo(held).isNotEmpty();
      assertThat(joins.rank()).isEqualTo(3);
    }
  }

  @Test
  void latestMeetingIsJoined() throws Exception {
    String latest = "epoch/0/meeting/1/";
    IntStream.range(0, SIZE).forEach(rank -> announce(latest, rank));
    try (JoinClaim joins = take(LONG)) {
      assertThat(joins.rank()).isEqualTo(2);
      assertThat(store.find(latest + "member/2")).isPresent();
      assertThat(store.find(PREFIX + "member/2")).isEmpty();
    }
  }

  @Test
  void theErrorNamesAJobThatIsNotRunning() {
    store.remove(PREFIX + "member/1");
    assertThatThrownBy(() -> take(SHORT))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("a job of 2 running ranks")
        .hasMessageContaining("but rank 1 did not join within 0.3 s");
    assertThat(store.find(LOCK)).isEmpty();
  }

  @Test
  void otherSettingsAndUnreadableAnnouncementsAreRefused() throws Exception {
    try (JoinClaim joins = take(LONG)) {
      assertThatThrownBy(() -> joins.members(MINE, List.of("heartbeat=2s")))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining("heartbeat=1s")
          .hasMessageContaining("heartbeat=2s");
    }
    store.put(PREFIX + "member/1", "weft-member 99".getBytes(StandardCharsets.UTF_8));
    assertThatThrownBy(() -> take(LONG))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("same version of Weft");
    assertThat(store.find(LOCK).orElseThrow()).isEmpty();
  }
}
