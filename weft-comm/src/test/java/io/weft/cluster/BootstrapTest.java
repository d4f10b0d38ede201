// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.agent.Ticker;
import io.weft.cluster.store.InMemoryStore;
import io.weft.comm.CommException;
import io.weft.transport.Address;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BootstrapTest {

  private static final Duration LIMIT = Duration.ofSeconds(10);

  private static LaunchEnvironment launch(int rank, int size) {
    return new LaunchEnvironment(
        "test",
        rank,
        size,
        OptionalInt.empty(),
        OptionalInt.empty(),
        Optional.empty(),
        new StoreLocation.InProcess());
  }

  private static Topology join(Store store, int rank, int size, long epoch) throws Exception {
    var mine = List.of(new Address("tcp", "127.0.0.1:" + (4000 + rank)));
    return Bootstrap.exchange(
        Ticker.SYSTEM,
        store,
        launch(rank, size),
        epoch,
        JobProcess.current(),
        mine,
        List.of(),
        LIMIT);
  }

  private static RankEntry on(String host, String boot) {
    return new RankEntry(
        4, "1@1", new HostIdentity(host, boot), new Processors("0-1"), List.of(), List.of());
  }

  @Test
  void allRanksLearnTheSameTopology() throws Exception {
    var store = new InMemoryStore();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      // The second round is the second meeting of the same processes; the store still contains the
      // first.
      for (int round = 0; round < 2; round++) {
        var all = new ArrayList<Callable<Topology>>();
        for (int rank = 0; rank < 5; rank++) {
          int own = rank;
          all.add(() -> join(store, own, 5, 7));
        }
        List<Future<Topology>> done = threads.invokeAll(all, 20, TimeUnit.SECONDS);
        Topology first = done.getFirst().get();
        assertThat(first.epoch()).isEqualTo(7);
        assertThat(first.size()).isEqualTo(5);
        assertThat(first.members().get(3).addresses())
            .containsExactly(new Address("tcp", "127.0.0.1:4003"));
        assertThat(first.localSize(0)).isEqualTo(5);
        assertThat(first.members()).extracting(Member::localRank).containsExactly(0, 1, 2, 3, 4);
        for (Future<Topology> other : done) {
          assertThat(other.get()).isEqualTo(first);
        }
      }
    }
  }

  @Test
  void missingRanksAreNamed() {
    var store = new InMemoryStore();
    assertThatThrownBy(
            () ->
                Bootstrap.exchange(
                    Ticker.SYSTEM,
                    store,
                    launch(1, 6),
                    0,
                    JobProcess.current(),
                    List.of(),
                    List.of(),
                    Duration.ofMillis(50)))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("ranks 0, 2-5 of 6 did not join within 0.05 s");
  }

  @Test
  void differentSizesAreNamed() throws Exception {
    var store = new InMemoryStore();
    store.put(
        "epoch/0/meeting/0/member/0",
        RankEntry.of(JobProcess.current(), 3, List.of(), List.of()).encode());
    assertThatThrownBy(() -> join(store, 1, 2, 0))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("job has 3 ranks");
  }

  @Test
  void rankStartedTwiceIsNamed() {
    var store = new InMemoryStore();
    var other =
        new RankEntry(
            2,
            "99@99",
            new HostIdentity("elsewhere", ""),
            new Processors("0-1"),
            List.of(),
            List.of());
    store.put("epoch/0/meeting/0/member/1", other.encode());
    assertThatThrownBy(() -> join(store, 1, 2, 0))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("another process, on elsewhere, also joined as rank 1");
  }

  @Test
  void unreadableAnnouncementIsNamed() {
    var store = new InMemoryStore();
    store.put("epoch/0/meeting/0/member/0", new byte[] {1, 2, 3});
    assertThatThrownBy(() -> join(store, 1, 2, 0))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("rank 0");
  }

  @Test
  void localAndCrossRanksFollowTheHosts() {
    List<Member> members =
        Bootstrap.members(List.of(on("a", "1"), on("b", "1"), on("a", "1"), on("b", "1")));
    assertThat(members).extracting(Member::localRank).containsExactly(0, 0, 1, 1);
    assertThat(members).extracting(Member::crossRank).containsExactly(0, 1, 0, 1);
    assertThat(members).extracting(Member::host).containsExactly("a", "b", "a", "b");
  }

  @Test
  void hostsWithOneNameAreDistinguishedByTheirBoot() {
    List<Member> members = Bootstrap.members(List.of(on("a", "1"), on("a", "2")));
    assertThat(members).extracting(Member::host).containsExactly("a(1)", "a(2)");
    assertThat(members).extracting(Member::crossRank).containsExactly(0, 1);
  }

  @Test
  void aDecodedAnnouncementEqualsTheEncodedOne() {
    RankEntry own =
        RankEntry.of(
            JobProcess.current(),
            2,
            List.of(new Address("tcp", "[::1]:4000")),
            List.of("a=1", "b=2"));
    RankEntry read = RankEntry.decode(own.encode());
    assertThat(read).isEqualTo(own);
    assertThat(read.sameProcess(own)).isTrue();
  }

  @Test
  void settingsThatDifferAreNamedWithBothValues() {
    var store = new InMemoryStore();
    var other =
        new RankEntry(
            2,
            "99@99",
            new HostIdentity("elsewhere", ""),
            new Processors("0-1"),
            List.of(),
            List.of("algorithms=auto", "segment-bytes=65536"));
    store.put("epoch/0/meeting/0/member/1", other.encode());
    assertThatThrownBy(
            () ->
                Bootstrap.exchange(
                    Ticker.SYSTEM,
                    store,
                    launch(0, 2),
                    0,
                    JobProcess.current(),
                    List.of(),
                    List.of("algorithms=auto", "segment-bytes=131072"),
                    LIMIT))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("rank 1 on elsewhere has the setting segment-bytes=65536")
        .hasMessageContaining("rank 0 has segment-bytes=131072");
  }
}
