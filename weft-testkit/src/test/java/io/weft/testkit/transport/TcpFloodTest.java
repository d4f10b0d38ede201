// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.Address;
import io.weft.transport.Endpoint;
import io.weft.transport.TransportException;
import io.weft.transport.spi.Credentials;
import io.weft.transport.tcp.TcpProvider;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks that a peer of the job connects whatever other connections arrive, and that a peer with
/// wrong credentials is refused at once.
@Timeout(60)
class TcpFloodTest {

  /// The flood's total of connections, which keeps the machine from running out of ports.
  private static final int FLOOD = 4000;

  private static final int BEFORE = 100;
  private static final int HELD = 200;

  private final Net net = new Net(new TcpProvider(), "127.0.0.1");

  @AfterEach
  void close() {
    net.close();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aPeerConnectsDuringAFlood(boolean talking) throws InterruptedException {
    Node node = net.node(1);
    var made = new AtomicInteger();
    byte[] says = talking ? RawPeer.hello(new byte[32]) : new byte[0];
    Thread flood = Thread.startVirtualThread(() -> flood(node.address(), says, made));
    try {
      net.until(() -> made.get() >= BEFORE || !flood.isAlive(), "the flood is there");
      Endpoint friend = net.connect(net.node(2), node, 1);
      net.post(() -> friend.trySend(MemorySegment.ofArray(new byte[] {1})));
      net.until(() -> !node.heard(SinkEvent.Received.class).isEmpty(), "the peer is served");
      assertThat(made.get()).as("connections of the flood").isGreaterThanOrEqualTo(BEFORE);
    } finally {
      flood.interrupt();
      flood.join();
    }
  }

  private static void flood(Address address, byte[] says, AtomicInteger made) {
    String[] parts = address.location().split(":");
    var to = new InetSocketAddress(parts[0], Integer.parseInt(parts[1]));
    Deque<SocketChannel> held = new ArrayDeque<>();
    for (int i = 0; i < FLOOD && !Thread.currentThread().isInterrupted(); i++) {
      try {
        SocketChannel one = SocketChannel.open(to);
        held.add(one);
        made.incrementAndGet();
        int unused = one.write(ByteBuffer.wrap(says));
      } catch (IOException dropped) {
        assert i >= 0; // newer connections replaced it
      }
      if (held.size() > HELD) {
        close(held.remove());
      }
    }
    held.forEach(TcpFloodTest::close);
  }

  private static void close(SocketChannel one) {
    try {
      one.close();
    } catch (IOException alreadyGone) {
      assert !one.isOpen();
    }
  }

  @Test
  void aConnectionThatEndsBeforeTheVerdictIsRetried() throws IOException {
    Node caller = net.node(0);
    Node called = net.node(1);
    try (TcpRelay relay = TcpRelay.to(called.address())) {
      relay.endBeforeTheVerdict(3);
      caller.transport().connect(relay.address(), 1);
      net.until(() -> !caller.connected().isEmpty(), "connected at last");
      assertThat(relay.termination()).as("connections that were to be ended").isZero();
    }
  }

  @Test
  void aConnectionWithoutAVerdictFailsAtTheDeadline() throws IOException {
    Node caller = net.node(0);
    Node called = net.node(1);
    try (TcpRelay relay = TcpRelay.to(called.address())) {
      relay.endBeforeTheVerdict(Integer.MAX_VALUE);
      caller.transport().connect(relay.address(), 1);
      int soFar = Integer.MAX_VALUE - 10;
      net.until(() -> relay.termination() < soFar, "it is tried again and again");
      caller.transport().poll(System.nanoTime() + Node.CONNECT_DEADLINE.toNanos());
    }
    assertThat(lossOf(caller))
        .contains("not connected after", "attempts", "do all processes have the same secret?");
    assertThat(called.events()).isEmpty();
  }

  @Test
  void aProvedOrExplicitRefusalIsFinal() {
    for (Credentials other :
        new Credentials[] {
          new Credentials("contract", 1, 1, Node.secret("some other secret")),
          new Credentials("contract", 2, 1, Node.credentials(1).secret()),
          new Credentials("another", 1, 1, Node.credentials(1).secret())
        }) {
      Node caller = net.node(0);
      Node called = net.node(other);
      caller.transport().connect(called.address(), 1);
      assertThat(lossOf(caller)).doesNotContain("attempts");
      assertThat(called.events()).isEmpty();
    }
  }

  private String lossOf(Node node) {
    net.until(() -> !node.heard(SinkEvent.Failed.class).isEmpty(), "the loss is heard");
    TransportException cause = node.heard(SinkEvent.Failed.class).getFirst().cause();
    return String.valueOf(cause.getMessage());
  }
}
