// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.agent.Ticker;
import io.weft.cluster.store.SecretFile;
import io.weft.cluster.watch.Heartbeat;
import io.weft.comm.CommException;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.PostResult;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.inproc.InprocProvider;
import io.weft.transport.spi.Credentials;
import io.weft.transport.spi.Secret;
import io.weft.transport.spi.TransportConfig;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks how two ranks of a job admit a third one; the test's thread polls all of them.
@Timeout(60)
class AdmissionsTest {

  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final int MOST_CYCLES = 2_000_000;

  private final Secret secret = SecretFile.random();
  private final List<Mesh> meshes = new ArrayList<>();
  private final List<Integer> gone = new ArrayList<>();
  private final List<Caller> callers = new ArrayList<>();

  /// A service that records the peers that are gone, at rank 0.
  private final class Watching implements MeshService {
    private final int rank;

    Watching(int rank) {
      this.rank = rank;
    }

    @Override
    public byte id() {
      return 5;
    }

    @Override
    public void onStart(Mesh mesh) {}

    @Override
    public int work(long nowNanos) {
      return 0;
    }

    @Override
    public void onMessage(int fromRank, MemorySegment message) {}

    @Override
    public String onPeerGone(int peer, PeerExit how) {
      if (rank == 0) {
        gone.add(peer);
      }
      return "";
    }

    @Override
    public void onExcluded(int witness, String why) {}

    @Override
    public boolean busy() {
      return false;
    }

    @Override
    public boolean hasCommands() {
      return false;
    }

    @Override
    public void onClose() {}

    @Override
    public void onCrash(Throwable cause) {}

    @Override
    public void onClosing() {}
  }

  /// A rank that sends the frames that the test chooses.
  private final class Caller implements FrameSink {
    private final int rank;
    private final Transport transport;
    private final List<MeshFrame> heard = new ArrayList<>();
    private boolean connected;
    private boolean ended;

    Caller(int rank) {
      this.rank = rank;
      this.transport = new InprocProvider().open(config(rank), this);
      callers.add(this);
    }

    Endpoint call(Mesh mesh) {
      Endpoint call = transport.connect(mesh.transport().address(), mesh.rank());
      pollUntil(() -> connected);
      return call;
    }

    Member member() {
      return AdmissionsTest.member(rank, transport);
    }

    @Override
    public void onConnect(Endpoint endpoint) {
      connected = true;
    }

    @Override
    public void onMessage(Endpoint from, MemorySegment message) {
      heard.add(MeshFrame.read(message));
    }

    @Override
    public void onNotify(Endpoint from, int immediate) {}

    @Override
    public void onFailure(Endpoint from, TransportException cause) {
      ended = true;
    }
  }

  private TransportConfig config(int rank) {
    return new TransportConfig("late", LIMIT, new Credentials("late", 0, rank, secret));
  }

  private static Member member(int rank, Transport transport) {
    return new Member(rank, rank, 0, "host", "", Processors.UNKNOWN, List.of(transport.address()));
  }

  private Mesh open(int rank) {
    return new Mesh(
        rank,
        Ticker.SYSTEM,
        Heartbeat.OFF,
        List.of(new Watching(rank)),
        sink -> new InprocProvider().open(config(rank), sink));
  }

  @BeforeEach
  void begin() {
    meshes.add(open(0));
    meshes.add(open(1));
    List<Member> members = meshes.stream().map(m -> member(m.rank(), m.transport())).toList();
    for (Mesh mesh : meshes) {
      mesh.connect(new Topology(0, members), Connections.USED, LIMIT);
    }
  }

  private void pollUntil(BooleanSupplier condition) {
    for (int cycle = 0; !condition.getAsBoolean(); cycle++) {
      assertThat(cycle).as("duty cycles").isLessThan(MOST_CYCLES);
      for (Mesh mesh : meshes) {
        int unused = mesh.work(Ticker.SYSTEM.nanos());
      }
      for (Caller caller : callers) {
        int unused = caller.transport.poll(Ticker.SYSTEM.nanos());
      }
    }
  }

  @AfterEach
  void close() {
    callers.forEach(caller -> caller.transport.close());
    for (Mesh mesh : meshes) {
      mesh.crash(new IllegalStateException("the test is over"));
    }
  }

  @Test
  void aJoiningRankIsWelcomedAndMissingLowerRanksAreGone() {
    Caller late = new Caller(4);
    Endpoint call = late.call(meshes.get(0));
    assertThat(call.trySend(new MeshFrame.Join(late.member()).encode()))
        .isEqualTo(PostResult.POSTED);
    pollUntil(() -> !late.heard.isEmpty());
    var between = new BitSet();
    between.set(2, 4);
    assertThat(late.heard).containsExactly(new MeshFrame.Welcome((BitSet) between.clone()));
    assertThat(meshes.get(0).topology().size()).isEqualTo(5);
    assertThat(meshes.get(0).topology().members().get(4)).isEqualTo(late.member());
    assertThat(gone).containsExactly(2, 3);
    // The rank joins again and is told of the ranks that have gone since.
    meshes.get(0).drop(1, "the test says so");
    assertThat(call.trySend(new MeshFrame.Join(late.member()).encode()))
        .isEqualTo(PostResult.POSTED);
    between.set(1);
    pollUntil(() -> late.heard.contains(new MeshFrame.Welcome(between)));
  }

  @Test
  void anInvalidJoinEndsOnlyItsConnection() {
    Caller other = new Caller(3);
    MemorySegment join = new MeshFrame.Join(other.member()).encode();
    List<MemorySegment> wrong =
        List.of(
            join,
            new MeshFrame.Heartbeat().encode(),
            new MeshFrame.Lost(1, 2, "an accusation", "").encode(),
            join.asSlice(0, 20),
            MemorySegment.ofArray(new byte[] {5, 0, 0, 0, 0, 0, 0, 0}),
            MemorySegment.ofArray(new byte[8_000]).fill((byte) -1));
    for (MemorySegment message : wrong) {
      Caller late = new Caller(2);
      Endpoint call = late.call(meshes.get(0));
      MemorySegment copy = Arena.ofAuto().allocate(message.byteSize(), 8);
      MemorySegment.copy(message, 0, copy, 0, message.byteSize());
      assertThat(call.trySend(copy)).isEqualTo(PostResult.POSTED);
      pollUntil(() -> late.ended);
      assertThat(late.heard).isEmpty();
    }
    assertThat(meshes.get(0).topology().size()).isEqualTo(2);
    assertThat(meshes.get(0).isGone(1)).isFalse();
    assertThat(gone).isEmpty();
  }

  @Test
  void connectionsBeforeAJoinAreBounded() {
    List<Caller> silent = new ArrayList<>();
    for (int rank = 2; rank < 20; rank++) {
      Caller caller = new Caller(rank);
      var unused = caller.call(meshes.get(0));
      silent.add(caller);
    }
    pollUntil(() -> silent.stream().filter(caller -> caller.ended).count() >= 2);
    assertThat(silent.stream().filter(caller -> !caller.ended)).hasSize(16);
  }

  @Test
  void aRankFarBeyondTheLastIsRefused() {
    Caller late = new Caller(2 + Admissions.MOST_AHEAD);
    Endpoint call = late.call(meshes.get(0));
    boolean unused = call.trySend(new MeshFrame.Join(late.member()).encode()) == PostResult.POSTED;
    pollUntil(() -> late.ended);
    assertThat(meshes.get(0).topology().size()).isEqualTo(2);
  }

  @Test
  void aRankLostToAnotherLearnsThatWhenItJoins() {
    Caller late = new Caller(2);
    Endpoint first = late.call(meshes.get(1));
    assertThat(first.trySend(new MeshFrame.Join(late.member()).encode()))
        .isEqualTo(PostResult.POSTED);
    pollUntil(() -> !late.heard.isEmpty());
    MemorySegment any = new MeshFrame.Heartbeat().encode();
    pollUntil(() -> meshes.get(1).endpoint(0).trySend(any) == PostResult.POSTED);
    meshes.get(1).drop(2, "the test says so");
    MemorySegment more = new MeshFrame.Heartbeat().encode();
    pollUntil(() -> late.ended && meshes.get(1).endpoint(0).trySend(more) == PostResult.POSTED);
    late.connected = false;
    late.heard.clear();
    Endpoint second = late.call(meshes.get(0));
    assertThat(second.trySend(new MeshFrame.Join(late.member()).encode()))
        .isEqualTo(PostResult.POSTED);
    pollUntil(() -> !late.heard.isEmpty());
    assertThat(late.heard.getFirst())
        .isInstanceOfSatisfying(MeshFrame.Lost.class, lost -> assertThat(lost.rank()).isEqualTo(2));
    assertThat(meshes.get(0).topology().size()).isEqualTo(2);
    assertThat(meshes.get(0).isGone(1)).isFalse();
  }

  @Test
  void aRankWithoutAnyAnswerDoesNotJoin() {
    Mesh late = open(2);
    try {
      List<Member> members = new ArrayList<>(meshes.get(0).topology().members());
      members.add(member(2, late.transport()));
      assertThatThrownBy(() -> late.enter(new Topology(0, members), Duration.ofMillis(300)))
          .isInstanceOf(CommException.Setup.class)
          .hasMessageContaining("no answer from rank 0 on host, rank 1 on host");
    } finally {
      late.crash(new IllegalStateException("the test is over"));
    }
  }
}
