// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.Endpoint;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PostResult;
import io.weft.transport.TransportException;
import io.weft.transport.spi.Encryption;
import io.weft.transport.spi.TransportProvider;
import io.weft.transport.tcp.TcpProvider;
import io.weft.transport.tls.TlsParty;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks encrypted TCP with peers that do not encrypt, modify the traffic, intercept it, or never
/// complete the handshake.
@Timeout(60)
class SecureTcpTest {

  private static final int SLOTS = 4;
  private static final int SLOT_BYTES = 300_000;

  private final TransportProvider plain = new TcpProvider();
  private final TransportProvider secure = new SecureTcp(new Encryption.Ephemeral());
  private final Net net = new Net(secure, "127.0.0.1");
  private final LogLines log = LogLines.of("io.weft.transport.tcp");

  @AfterEach
  void close() {
    net.close();
    log.close();
  }

  private Node open(TransportProvider provider, int node) {
    return net.add(Node.open(provider, "127.0.0.1", node));
  }

  private String lossOf(Node node) {
    net.until(() -> !node.heard(SinkEvent.Failed.class).isEmpty(), "the loss is heard");
    TransportException cause = node.heard(SinkEvent.Failed.class).getFirst().cause();
    assertThat(cause).isInstanceOf(TransportException.EndpointLost.class);
    return cause.getMessage();
  }

  @Test
  void aPlainCallerAndASecureListenerNameTheSetting() {
    Node caller = open(plain, 0);
    Node called = open(secure, 1);
    caller.transport().connect(called.address(), 1);
    assertThat(lossOf(caller)).contains("--secure", "it is off here");
    net.until(() -> log.has("--secure", "it is on here"), "the called side says it");
    assertThat(called.events()).isEmpty();
  }

  @Test
  void aSecureCallerAndAPlainListenerNameTheSetting() {
    Node caller = open(secure, 0);
    Node called = open(plain, 1);
    caller.transport().connect(called.address(), 1);
    assertThat(lossOf(caller)).contains("--secure", "it is on here");
    net.until(() -> log.has("--secure", "it is off here"), "the called side says it");
    assertThat(called.events()).isEmpty();
  }

  @Test
  void aFlippedByteEndsTheConnectionAndIsNeverDelivered() throws IOException {
    long seed = Long.getLong("weft.test.seed", System.nanoTime());
    Random random = new Random(seed);
    Node a = open(secure, 0);
    Node b = open(secure, 1);
    try (TcpRelay relay = TcpRelay.to(b.address())) {
      Endpoint endpoint = a.transport().connect(relay.address(), 1);
      net.until(() -> !a.connected().isEmpty() && !b.connected().isEmpty(), "connected");
      MemoryRegion from = a.region((long) SLOTS * SLOT_BYTES, random);
      MemoryRegion into = b.region((long) SLOTS * SLOT_BYTES);
      relay.flipAfter(random.nextInt(SLOTS * SLOT_BYTES));
      int[] posted = {0};
      net.until(
          () -> {
            // Each slot is written once, so that each has the data of a single write. Messages
            // follow.
            PostResult result =
                posted[0] < SLOTS
                    ? write(endpoint, from, into, posted[0])
                    : endpoint.trySend(MemorySegment.ofArray(new byte[60_000]));
            posted[0] += result == PostResult.POSTED ? 1 : 0;
            return !b.heard(SinkEvent.Failed.class).isEmpty();
          },
          "the receiver hears of the end, seed " + seed);
      assertThat(lossOf(b)).as("seed " + seed).contains("rank 0", "TLS", "authentication");
      net.until(() -> !a.heard(SinkEvent.Failed.class).isEmpty(), "the sender hears of the end");
      for (SinkEvent.Notified notified : b.heard(SinkEvent.Notified.class)) {
        long at = (long) notified.immediate() * SLOT_BYTES;
        assertThat(
                into.segment()
                    .asSlice(at, SLOT_BYTES)
                    .mismatch(from.segment().asSlice(at, SLOT_BYTES)))
            .as("what was notified is right, seed " + seed)
            .isEqualTo(-1);
      }
      for (SinkEvent.Received received : b.heard(SinkEvent.Received.class)) {
        assertThat(received.bytes()).containsOnly(0);
      }
    }
  }

  private static PostResult write(
      Endpoint endpoint, MemoryRegion from, MemoryRegion into, int slot) {
    long at = (long) slot * SLOT_BYTES;
    return endpoint.tryWrite(
        from.slice(at, SLOT_BYTES),
        Transfers.part(into, at, SLOT_BYTES),
        slot,
        new CompletionRecord());
  }

  @Test
  void aRelayThatTerminatesTlsOnBothSidesIsDetected() throws IOException {
    Node a = open(secure, 0);
    Node b = open(secure, 1);
    TlsParty man = TlsParty.of(new Encryption.Ephemeral());
    try (TcpRelay relay = TcpRelay.reading(man, b.address())) {
      a.transport().connect(relay.address(), 1);
      assertThat(lossOf(a)).contains("does no intermediary decrypt the traffic?");
      assertThat(relay.seen()).as("TLS alone did not keep it out").startsWith("WEFT");
      net.until(() -> log.has("an intermediary decrypts"), "the called side says it");
      assertThat(b.events()).isEmpty();
    }
  }

  @Test
  void strangersEndTheirOwnConnectionOnly() throws IOException {
    Node node = open(secure, 1);
    byte[] garbage = new byte[200_000];
    new Random(1).nextBytes(garbage);
    byte[] greeting = {22, 3, 1, 64, 0, 1, 0, 63, (byte) 252};
    byte[] http = "GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    for (byte[] bytes : List.of(garbage, http)) {
      try (RawPeer peer = new RawPeer(net, node.address())) {
        sendUntilTheEnd(peer, bytes);
        peer.awaitEnd();
      }
    }
    // A greeting without an end exceeds the limit for strangers.
    try (RawPeer peer = new RawPeer(net, node.address())) {
      byte[] part = new byte[16_389];
      System.arraycopy(greeting, 0, part, 0, greeting.length);
      for (int i = 0; i < 8; i++) {
        sendUntilTheEnd(peer, part);
      }
      peer.awaitEnd();
    }
    assertThat(node.events()).isEmpty();
    friendIsServed(node);
  }

  /// Sends bytes to a peer that may close the connection first.
  private static void sendUntilTheEnd(RawPeer peer, byte[] bytes) {
    try {
      peer.send(bytes);
    } catch (IOException closed) {
      assertThat(closed).isNotNull();
    }
  }

  @Test
  void silentStrangersAndHalfGreetingsAreDropped() throws IOException {
    Node node = open(secure, 1);
    List<RawPeer> peers = new ArrayList<>();
    try {
      for (int i = 0; i < 100; i++) {
        RawPeer peer = new RawPeer(net, node.address());
        peers.add(peer);
        peer.send(i % 2 == 0 ? new byte[0] : new byte[] {22, 3, 1, 2});
        net.poll();
      }
      for (int i = 0; i < 100 - 64; i++) {
        peers.get(i).awaitEnd();
      }
      long later = System.nanoTime() + TimeUnit.SECONDS.toNanos(6);
      node.transport().poll(later);
      node.transport().poll(later);
      for (RawPeer peer : peers) {
        peer.awaitEnd();
      }
    } finally {
      for (RawPeer peer : peers) {
        peer.close();
      }
    }
    friendIsServed(node);
  }

  private void friendIsServed(Node node) {
    Endpoint friend = net.connect(open(secure, 2), node, 1);
    net.post(() -> friend.trySend(MemorySegment.ofArray(new byte[] {1})));
    net.until(() -> !node.heard(SinkEvent.Received.class).isEmpty(), "a friend is served");
  }
}
