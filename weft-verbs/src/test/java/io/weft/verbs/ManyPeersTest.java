// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.Endpoint;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PostResult;
import io.weft.transport.RemoteSlice;
import io.weft.verbs.Parties.Heard;
import io.weft.verbs.Parties.Party;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks a transport with many peers, whose frames take receives of one shared queue, and states
/// its pinned memory and posted receives.
@Timeout(600)
class ManyPeersTest {

  private static final int ROUNDS = 40;
  private static final int LONG_BYTES = 20_000;
  private static final long LIMIT_NANOS = 300_000_000_000L;

  @Tag("rdma")
  @Test
  void twentyPeersShareOneReceiveQueue() {
    check(20, ROUNDS);
  }

  @Tag("rdma")
  @Tag("long")
  @Test
  void twoHundredPeersShareOneReceiveQueue() {
    check(200, 4);
  }

  /// Connects peers to node 0, which then receives messages and writes of all of them and answers;
  /// afterwards half of the peers leave, and the others continue.
  private static void check(int count, int rounds) {
    VerbsSettings settings = Parties.settings(0, 0);
    List<Party> peers = new ArrayList<>();
    Party server = new Party(0, settings);
    try {
      long before = pinned(server);
      for (int node = 1; node <= count; node++) {
        Party peer = new Party(node, settings);
        peers.add(peer);
        peer.endpoints.put(0, peer.transport.connect(server.transport.address(), 0));
        int connected = node;
        until(server, List.of(peer), () -> server.connected == connected && peer.connected == 1);
      }
      long each = (pinned(server) - before) / count;
      int receives = ((VerbsTransport) server.transport).postedReceives();
      System.out.printf(
          "%d peers: %d pinned bytes of rings for each, %d posted receives for all, %d for each%n",
          count, each, receives, receives / count);
      assertThat(each).isEqualTo(2L * settings.ringBytes());
      exchange(server, peers, rounds);
      List<Party> left = peers.subList(count / 2, count);
      for (Party gone : peers.subList(0, count / 2)) {
        gone.transport.close();
      }
      until(
          server,
          left,
          () ->
              server.failures.size() == count / 2 && pinned(server) - before == left.size() * each);
      server.failures.clear();
      exchange(server, left, rounds);
    } finally {
      peers.forEach(peer -> peer.transport.close());
      server.transport.close();
    }
  }

  private static long pinned(Party party) {
    return party.transport.counters().get("pinnedBytes");
  }

  /// Sends messages in both directions and writes to the server; checks contents and order.
  private static void exchange(Party server, List<Party> peers, int rounds) {
    try (MemoryRegion target = server.transport.allocate((long) LONG_BYTES * peers.size())) {
      List<MemoryRegion> sources = new ArrayList<>();
      List<VerbsOutcome> writes = new ArrayList<>();
      for (int i = 0; i < peers.size(); i++) {
        Party peer = peers.get(i);
        MemoryRegion source = peer.transport.allocate(LONG_BYTES);
        source.segment().fill((byte) peer.node);
        sources.add(source);
        for (int round = 0; round < rounds; round++) {
          send(server, peers, peer.to(0), peer.node, round);
          send(server, peers, server.to(peer.node), peer.node, round);
        }
        RemoteSlice part = new RemoteSlice(target.export(), (long) i * LONG_BYTES, LONG_BYTES);
        VerbsOutcome done = new VerbsOutcome();
        writes.add(done);
        assertThat(peer.to(0).tryWrite(source.slice(0, LONG_BYTES), part, peer.node, done))
            .isEqualTo(PostResult.POSTED);
      }
      until(
          server,
          peers,
          () ->
              writes.stream().allMatch(VerbsOutcome::isDone)
                  && peers.stream()
                      .allMatch(
                          peer ->
                              server.heardOf(peer.node).size() == rounds + 1
                                  && peer.heardOf(0).size() == rounds));
      for (int i = 0; i < peers.size(); i++) {
        Party peer = peers.get(i);
        for (int round = 0; round < rounds; round++) {
          assertThat(words(server.heardOf(peer.node).remove())).containsExactly(peer.node, round);
          assertThat(words(peer.heardOf(0).remove())).containsExactly(peer.node, round);
        }
        assertThat(server.heardOf(peer.node).remove()).isEqualTo(new Heard.Notice(peer.node));
        MemorySegment landed = target.segment().asSlice((long) i * LONG_BYTES, LONG_BYTES);
        assertThat(landed.mismatch(sources.get(i).segment())).isEqualTo(-1);
        sources.get(i).close();
      }
    }
  }

  private static void send(Party server, List<Party> peers, Endpoint to, int node, int round) {
    MemorySegment message = MemorySegment.ofArray(new int[] {node, round});
    boolean[] sent = {false};
    until(
        server,
        peers,
        () -> {
          sent[0] = sent[0] || to.trySend(message) == PostResult.POSTED;
          return sent[0];
        });
  }

  private static int[] words(Heard heard) {
    return ((Heard.Message) heard).bytes().toArray(ValueLayout.JAVA_INT_UNALIGNED);
  }

  private static void until(Party server, List<Party> peers, BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      int work = server.transport.poll(System.nanoTime());
      for (Party peer : peers) {
        work += peer.transport.poll(System.nanoTime());
        assertThat(peer.failures).isEmpty();
      }
      assertThat(System.nanoTime() - start).as("time in nanoseconds").isLessThan(LIMIT_NANOS);
      if (work == 0) {
        Thread.yield();
      }
    }
  }
}
