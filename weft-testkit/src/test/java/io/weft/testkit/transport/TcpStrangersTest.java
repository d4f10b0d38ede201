// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.transport.Endpoint;
import io.weft.transport.MemoryRegion;
import io.weft.transport.TransportException;
import io.weft.transport.tcp.TcpProvider;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks that strangers and hostile peers of a TCP transport can only end their own connection.
@Timeout(60)
class TcpStrangersTest {

  private final Net net = new Net(new TcpProvider(), "127.0.0.1");
  private final Node node = net.node(1);

  @AfterEach
  void nothingElseIsDisturbed() {
    int before = node.heard(SinkEvent.Received.class).size();
    Endpoint friend = net.connect(net.node(2), node, 1);
    net.post(() -> friend.trySend(MemorySegment.ofArray(new byte[] {1})));
    net.until(() -> node.heard(SinkEvent.Received.class).size() > before, "a friend is served");
    net.close();
  }

  @Test
  void garbageEndsTheConnection() throws IOException {
    byte[] garbage = new byte[1000];
    new Random(1).nextBytes(garbage);
    try (RawPeer peer = new RawPeer(net, node.address())) {
      peer.send(garbage);
      peer.awaitEnd();
    }
    assertThat(node.events()).isEmpty();
  }

  @Test
  void httpRequestEndsTheConnectionWithoutAnAnswer() throws IOException {
    try (RawPeer peer = new RawPeer(net, node.address())) {
      peer.send("GET / HTTP/1.1\r\n".getBytes(StandardCharsets.US_ASCII));
      assertThat(peer.receive(1)).isEmpty();
    }
    assertThat(node.events()).isEmpty();
  }

  @Test
  void silentConnectionIsDroppedAfterFiveSeconds() throws IOException {
    try (RawPeer peer = new RawPeer(net, node.address())) {
      for (int i = 0; i < 100; i++) {
        net.poll();
      }
      long later = System.nanoTime() + TimeUnit.SECONDS.toNanos(6);
      node.transport().poll(later);
      node.transport().poll(later);
      peer.awaitEnd();
    }
  }

  @Test
  void theOldestOfManySilentConnectionsAreDropped() throws IOException {
    List<RawPeer> peers = new ArrayList<>();
    try {
      for (int i = 0; i < 200; i++) {
        peers.add(new RawPeer(net, node.address()));
        net.poll();
      }
      for (int i = 0; i < 200 - 64; i++) {
        peers.get(i).awaitEnd();
      }
    } finally {
      for (RawPeer peer : peers) {
        peer.close();
      }
    }
  }

  @Test
  void theHandshakeAndFramesAreAsDocumented() throws IOException {
    MemoryRegion region = node.region(100);
    try (RawPeer peer = new RawPeer(net, node.address())) {
      peer.authenticate();
      net.until(() -> node.connected().size() == 1, "accepted");
      assertThat(node.connected().getFirst().node()).isEqualTo(5);
      peer.send(RawPeer.frame(1, 0, 0, 0, 0, 3));
      peer.send(RawPeer.padded(new byte[] {1, 2, 3}));
      peer.send(RawPeer.frame(2, 0, 0, region.export().key(), 0, 50));
      peer.send(RawPeer.padded(new byte[50]));
      peer.send(RawPeer.frame(8, 0, 0, 0, 0, 0));
      peer.send(RawPeer.frame(1, 0, 0, 0, 0, 32));
      peer.send(RawPeer.padded(new byte[32]));
      net.until(() -> node.heard(SinkEvent.Received.class).size() == 2, "the messages arrive");
    }
    net.until(() -> !node.heard(SinkEvent.Failed.class).isEmpty(), "the end is heard");
  }

  @Test
  void longPayloadsAreAlignedToCacheLines() throws IOException {
    try (RawPeer peer = new RawPeer(net, node.address())) {
      peer.authenticate();
      net.until(() -> node.connected().size() == 1, "accepted");
      Endpoint endpoint = node.connected().getFirst();
      byte[] payload = new byte[5_000];
      Arrays.fill(payload, (byte) 9);
      net.post(() -> endpoint.trySend(MemorySegment.ofArray(new byte[20])));
      net.post(() -> endpoint.trySend(MemorySegment.ofArray(payload)));
      net.post(() -> endpoint.trySend(MemorySegment.ofArray(payload)));
      // A short message of 64 bytes, an empty frame, and two long messages of 32 + 5,024 bytes.
      byte[] stream = peer.receive(64 + 32 + 2 * (32 + 5_024));
      assertThat(Arrays.copyOfRange(stream, 0, 32)).isEqualTo(RawPeer.frame(1, 0, 0, 0, 0, 20));
      byte[] header = RawPeer.frame(1, 0, 0, 0, 0, payload.length);
      for (int at : new int[] {128, 5_184}) {
        assertThat(Arrays.copyOfRange(stream, at - 32, at)).isEqualTo(header);
        assertThat(Arrays.copyOfRange(stream, at, at + payload.length)).isEqualTo(payload);
      }
    }
  }

  @Test
  void replayedHandshakeIsRefused() throws IOException {
    byte[] recorded;
    byte[] nonce;
    try (RawPeer peer = new RawPeer(net, node.address())) {
      recorded = peer.authenticate();
      nonce = peer.nonce();
    }
    net.until(() -> !node.heard(SinkEvent.Failed.class).isEmpty(), "the first one is over");
    try (RawPeer peer = new RawPeer(net, node.address())) {
      peer.send(RawPeer.hello(nonce));
      assertThat(peer.receive(40)).hasSize(40);
      peer.send(recorded);
      assertThat(peer.receive(96)).isEqualTo(RawPeer.refusal());
    }
    assertThat(node.connected()).hasSize(1);
  }

  @Test
  void reflectedHandshakeIsRefused() throws IOException {
    try (RawPeer peer = new RawPeer(net, node.address());
        RawPeer mirror = new RawPeer(net, node.address())) {
      // The nonce of one connection is sent on the other one, whose answers are sent back.
      peer.send(RawPeer.hello(peer.nonce()));
      byte[] challenge = peer.receive(40);
      byte[] theirNonce = new byte[32];
      System.arraycopy(challenge, 8, theirNonce, 0, 32);
      mirror.send(RawPeer.hello(theirNonce));
      byte[] reflected = mirror.receive(40);
      peer.send(reflected);
      assertThat(peer.receive(96)).isEmpty();
    }
    assertThat(node.events()).isEmpty();
  }

  @Test
  void framesWithImpossibleLengthsEndTheConnection() throws IOException {
    MemoryRegion region = node.region(1000);
    int key = region.export().key();
    long[] lengths = {66_561, Integer.MAX_VALUE, Long.MAX_VALUE, -1, Long.MIN_VALUE};
    int ended = 0;
    for (int kind : new int[] {1, 2, 4, 6}) {
      for (long length : lengths) {
        try (RawPeer peer = new RawPeer(net, node.address())) {
          peer.authenticate();
          peer.send(RawPeer.frame(kind, 0, 0, key, 0, length));
          ended++;
          int expected = ended;
          net.until(
              () -> node.heard(SinkEvent.Failed.class).size() == expected,
              "kind " + kind + " length " + length + " is refused");
          peer.awaitEnd();
        }
      }
    }
    assertThat(node.heard(SinkEvent.Received.class)).isEmpty();
    assertThat(node.heard(SinkEvent.Notified.class)).isEmpty();
  }

  @Test
  void writeOutsideARegionIsNotWritten() throws IOException {
    MemoryRegion region = node.region(1000);
    int key = region.export().key();
    long[] offsets = {1, 1000, -1, Long.MAX_VALUE, Long.MIN_VALUE, Long.MAX_VALUE - 999};
    for (long offset : offsets) {
      try (RawPeer peer = new RawPeer(net, node.address())) {
        peer.authenticate();
        peer.send(RawPeer.frame(2, 0, 0, key, offset, 1000));
        peer.awaitEnd();
      }
    }
    assertThat(node.heard(SinkEvent.Notified.class)).isEmpty();
    assertThat(region.segment().mismatch(MemorySegment.ofArray(new byte[1000]))).isEqualTo(-1);
  }

  @Test
  void anAnswerWithoutAReadEndsTheConnection() throws IOException {
    for (int context : new int[] {0, 1, 4096, -1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      try (RawPeer peer = new RawPeer(net, node.address())) {
        peer.authenticate();
        peer.send(RawPeer.frame(4, 0, context, 0, 0, 8));
        peer.awaitEnd();
      }
    }
  }

  @Test
  void wrongMagicVersionOrKindEndsTheConnection() throws IOException {
    for (int position : new int[] {0, 1, 2, 3}) {
      try (RawPeer peer = new RawPeer(net, node.address())) {
        peer.authenticate();
        byte[] frame = RawPeer.frame(1, 0, 0, 0, 0, 0);
        frame[position] ^= 0x55;
        peer.send(frame);
        peer.awaitEnd();
      }
    }
  }

  @Test
  void writeThatStopsInTheMiddleIsNeverNotified() throws IOException {
    MemoryRegion region = node.region(100_000);
    try (RawPeer peer = new RawPeer(net, node.address())) {
      peer.authenticate();
      peer.send(RawPeer.frame(2, 0, 0, region.export().key(), 0, 100_000));
      peer.send(new byte[50_000]);
    }
    net.until(() -> !node.heard(SinkEvent.Failed.class).isEmpty(), "the end is heard");
    assertThat(node.heard(SinkEvent.Notified.class)).isEmpty();
  }

  @Test
  void aRegionClosedDuringAWriteIsNotWrittenAnyMore() throws IOException {
    MemoryRegion region = node.region(100_000);
    try (RawPeer peer = new RawPeer(net, node.address())) {
      peer.authenticate();
      peer.send(RawPeer.frame(2, 0, 0, region.export().key(), 0, 100_000));
      peer.send(new byte[50_000]);
      for (int i = 0; i < 100; i++) {
        net.poll();
      }
      region.close();
      peer.send(new byte[50_000]);
      MemoryRegion next = node.region(8);
      peer.send(RawPeer.frame(2, 0, 7, next.export().key(), 0, 8));
      peer.send(RawPeer.padded(new byte[8]));
      net.until(() -> !node.heard(SinkEvent.Notified.class).isEmpty(), "the next write lands");
    }
    assertThat(node.heard(SinkEvent.Notified.class)).hasSize(1);
  }

  @Test
  void anAddressOfNoInterfaceIsRefused() {
    // 192.0.2.0/24 is reserved for documentation, so no host has such an address.
    assertThatThrownBy(() -> Node.open(new TcpProvider(), "192.0.2.1", 3))
        .isInstanceOf(TransportException.DeviceLost.class)
        .hasMessageContainingAll("192.0.2.1", "address of this host");
    assertThatThrownBy(() -> Node.open(new TcpProvider(), "0.0.0.0", 3))
        .isInstanceOf(TransportException.DeviceLost.class)
        .hasMessageContaining("name the address");
  }
}
