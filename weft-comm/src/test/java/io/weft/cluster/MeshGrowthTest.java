// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.agent.Ticker;
import io.weft.cluster.store.SecretFile;
import io.weft.cluster.watch.Heartbeat;
import io.weft.transport.PostResult;
import io.weft.transport.inproc.InprocProvider;
import io.weft.transport.spi.Credentials;
import io.weft.transport.spi.Secret;
import io.weft.transport.spi.TransportConfig;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks the meshes of a job that grows; the test's thread polls all of them.
@Timeout(60)
class MeshGrowthTest {

  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final int MOST_CYCLES = 2_000_000;

  private final Secret secret = SecretFile.random();
  private final List<Mesh> meshes = new ArrayList<>();
  private final List<Recorder> recorders = new ArrayList<>();

  /// A service that records its events.
  private static final class Recorder implements MeshService {
    final List<Integer> heard = new ArrayList<>();
    final List<Integer> added = new ArrayList<>();
    final List<Integer> gone = new ArrayList<>();

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
    public void onMessage(int fromRank, MemorySegment message) {
      heard.add(fromRank);
    }

    @Override
    public void onPeerAdded(int rank) {
      added.add(rank);
    }

    @Override
    public String onPeerGone(int rank, PeerExit how) {
      gone.add(rank);
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

  private void open(int ranks) {
    for (int rank = meshes.size(); rank < ranks; rank++) {
      var config = new TransportConfig("growth", LIMIT, new Credentials("growth", 0, rank, secret));
      var recorder = new Recorder();
      recorders.add(recorder);
      meshes.add(
          new Mesh(
              rank,
              Ticker.SYSTEM,
              Heartbeat.OFF,
              List.of(recorder),
              sink -> new InprocProvider().open(config, sink)));
    }
  }

  private Member member(int rank) {
    return new Member(
        rank,
        rank,
        0,
        "host",
        "",
        Processors.UNKNOWN,
        List.of(meshes.get(rank).transport().address()));
  }

  private Topology members(int ranks) {
    var members = new ArrayList<Member>();
    for (int rank = 0; rank < ranks; rank++) {
      members.add(member(rank));
    }
    return new Topology(0, members);
  }

  private void pollUntil(BooleanSupplier condition) {
    for (int cycle = 0; !condition.getAsBoolean(); cycle++) {
      assertThat(cycle).as("duty cycles").isLessThan(MOST_CYCLES);
      for (Mesh mesh : meshes) {
        int unused = mesh.work(Ticker.SYSTEM.nanos());
      }
    }
  }

  /// Polls until the message to the rank is posted.
  private void send(int from, int to) {
    MemorySegment message = Arena.ofAuto().allocate(8);
    message.set(ValueLayout.JAVA_BYTE, 0, (byte) 5);
    pollUntil(() -> meshes.get(from).endpoint(to).trySend(message) == PostResult.POSTED);
  }

  @AfterEach
  void close() {
    for (Mesh mesh : meshes) {
      mesh.crash(new IllegalStateException("the test is over"));
    }
  }

  @Test
  void anAddedRankAndTheOthersReachEachOther() {
    open(2);
    for (Mesh mesh : meshes) {
      mesh.connect(members(2), Connections.USED, LIMIT);
    }
    send(0, 1);
    pollUntil(() -> recorders.get(1).heard.contains(0));
    open(3);
    meshes.get(2).connect(members(3), Connections.USED, LIMIT);
    meshes.get(0).append(member(2));
    send(0, 2);
    pollUntil(() -> recorders.get(2).heard.contains(0));
    // Rank 2 calls rank 1, which learns of rank 2 only later.
    MemorySegment message = Arena.ofAuto().allocate(8);
    message.set(ValueLayout.JAVA_BYTE, 0, (byte) 5);
    assertThat(meshes.get(2).endpoint(1).trySend(message)).isEqualTo(PostResult.BACK_PRESSURED);
    pollUntil(() -> meshes.get(2).now() > 0);
    meshes.get(1).append(member(2));
    send(2, 1);
    pollUntil(() -> recorders.get(1).heard.contains(2));
    assertThat(meshes).allMatch(mesh -> mesh.connections() == 2);
    assertThat(meshes).allMatch(mesh -> mesh.topology().size() == 3);
    assertThat(recorders.get(0).added).containsExactly(2);
    assertThat(recorders.get(2).added).isEmpty();
  }

  @Test
  void theLossOfAnAddedRankIsToldToAll() {
    open(3);
    for (int rank = 0; rank < 2; rank++) {
      meshes.get(rank).connect(members(2), Connections.USED, LIMIT);
      meshes.get(rank).append(member(2));
    }
    meshes.get(2).connect(members(3), Connections.USED, LIMIT);
    send(0, 1);
    send(2, 0);
    pollUntil(() -> recorders.get(0).heard.contains(2) && recorders.get(1).heard.contains(0));
    meshes.get(0).drop(2, "the test says so");
    pollUntil(() -> recorders.get(1).gone.contains(2));
    assertThat(meshes.get(1).isGone(2)).isTrue();
    assertThat(meshes.get(1).connections()).isEqualTo(1);
  }

  @Test
  void ranksAreAddedInOrder() {
    open(2);
    meshes.get(0).connect(members(1), Connections.USED, LIMIT);
    assertThatThrownBy(() -> meshes.get(0).append(member(0)))
        .isInstanceOf(IllegalArgumentException.class);
    meshes.get(0).append(member(1));
    meshes.get(1).connect(members(2), Connections.USED, LIMIT);
    send(1, 0);
  }
}
