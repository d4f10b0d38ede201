// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.transport.Address;
import io.weft.transport.Endpoint;
import io.weft.transport.FrameSink;
import io.weft.transport.PostResult;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.spi.Credentials;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.tcp.TcpProvider;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Checks the greetings that two ends exchange before they share memory.
class ShmGreetingTest {

  @Test
  void aDecodedGreetingEqualsTheEncodedOne() throws ShmFault {
    for (ShmGreeting greeting :
        List.of(
            new ShmGreeting.Hello("boot pid:[1] name", 1L << 40, 3, -1, 7, Long.MIN_VALUE),
            new ShmGreeting.Hello("", 1, 2, 3, 4, 5),
            new ShmGreeting.Decision(""),
            new ShmGreeting.Decision("its memory cannot be mapped"),
            new ShmGreeting.GracefulClose("a frame of unknown kind 9"),
            new ShmGreeting.Wake())) {
      assertThat(ShmGreeting.decode(greeting.encode())).isEqualTo(greeting);
    }
  }

  @Test
  void malformedGreetingsAreAFault() {
    Random random = new Random(5);
    byte[] whole =
        new ShmGreeting.Hello("h", 1, 2, 3, 4, 5).encode().toArray(ValueLayout.JAVA_BYTE);
    for (int length = 0; length < ShmGreeting.HELLO_BYTES; length++) {
      byte[] cut = new byte[length];
      System.arraycopy(whole, 0, cut, 0, length);
      assertThatThrownBy(() -> ShmGreeting.decode(MemorySegment.ofArray(cut)))
          .isInstanceOf(ShmFault.class);
    }
    byte[] longer = new byte[ShmGreeting.HELLO_BYTES + ShmGreeting.MAX_TEXT + 1];
    System.arraycopy(whole, 0, longer, 0, whole.length);
    assertThatThrownBy(() -> ShmGreeting.decode(MemorySegment.ofArray(longer)))
        .isInstanceOf(ShmFault.class);
    byte[] noise = new byte[64];
    random.nextBytes(noise);
    assertThatThrownBy(() -> ShmGreeting.decode(MemorySegment.ofArray(noise)))
        .hasMessageContaining("not a shared-memory greeting");
  }

  @Test
  void aSilentPeerFailsAtTheDeadline() throws IOException {
    meetTcp(Duration.ofSeconds(3), MemorySegment.NULL, "did not say within 3000 ms");
  }

  @Test
  void aPeerWithAMalformedGreetingIsRefused() throws IOException {
    meetTcp(
        Peer.CONNECT_DEADLINE,
        Peer.bytes(1, 2, 3, 4, 5, 6, 7, 8, 9),
        "not a shared-memory greeting");
  }

  /// Connects to a transport that has only TCP.
  private static void meetTcp(Duration deadline, MemorySegment says, String expected)
      throws IOException {
    try (Talker talker = new Talker(says);
        Peer own = new Peer(0, ProcessDomain.here(), deadline)) {
      Address address = new Address("shm", talker.transport.address().location());
      var unused = own.transport.connect(address, 1);
      long start = System.nanoTime();
      while (own.failures.isEmpty() && System.nanoTime() - start < Peer.LIMIT_NANOS) {
        own.transport.poll(System.nanoTime());
        talker.transport.poll(System.nanoTime());
        Thread.yield();
      }
      assertThat(own.connected).isEmpty();
      assertThat(own.failures).hasSize(1);
      assertThat(own.failures.getFirst())
          .isInstanceOf(TransportException.EndpointLost.class)
          .hasMessageContainingAll("rank 1", address.toString(), expected);
    }
  }

  /// A TCP transport that sends one message to every peer that connects.
  private static final class Talker implements FrameSink, AutoCloseable {

    private final MemorySegment says;
    private final Transport transport;

    Talker(MemorySegment says) {
      this.says = says;
      Credentials credentials = new Credentials("test", 0, 1, Peer.secret());
      transport =
          new TcpProvider()
              .open(new TransportConfig("127.0.0.1", Peer.CONNECT_DEADLINE, credentials), this);
    }

    @Override
    public void onConnect(Endpoint endpoint) {
      if (says.byteSize() > 0) {
        assertThat(endpoint.trySend(says)).isEqualTo(PostResult.POSTED);
      }
    }

    @Override
    public void onMessage(Endpoint from, MemorySegment message) {
      // This is the greeting, which this transport does not understand.
      assertThat(message.byteSize()).isPositive();
    }

    @Override
    public void onNotify(Endpoint from, int immediate) {
      throw new AssertionError("nobody writes");
    }

    @Override
    public void onFailure(Endpoint from, TransportException cause) {
      assertThat(cause).isInstanceOf(TransportException.EndpointLost.class);
    }

    @Override
    public void close() {
      transport.close();
    }
  }
}
