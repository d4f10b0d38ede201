// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.transport.Endpoint;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PostResult;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// The contract of small messages: contents, limits, order, back-pressure.
public abstract class MessageContract extends ConnectionContract {

  /// Constructor for subclasses.
  protected MessageContract() {}

  @Test
  final void messagesOfAllLengthsArriveUnchanged() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    int max = a.transport().capabilities().maxMessageBytes();
    Random random = new Random(1);
    int[] lengths = {0, 1, 7, 8, 31, 32, 33, 1000, 4095, 4096, 4097, max / 2 + 1, max - 1, max};
    for (int length : lengths) {
      byte[] bytes = new byte[length];
      random.nextBytes(bytes);
      int before = b.heard(SinkEvent.Received.class).size();
      net().post(() -> endpoint.trySend(MemorySegment.ofArray(bytes)));
      net().until(() -> b.heard(SinkEvent.Received.class).size() > before, "length " + length);
      SinkEvent.Received received = b.heard(SinkEvent.Received.class).getLast();
      assertThat(received.bytes()).isEqualTo(bytes);
      assertThat(received.endpoint().node()).isZero();
    }
  }

  @Test
  final void messageIsReusableOnReturn() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    byte[] bytes = {1, 2, 3};
    net().post(() -> endpoint.trySend(MemorySegment.ofArray(bytes)));
    bytes[0] = 99;
    net().until(() -> b.heard(SinkEvent.Received.class).size() == 1, "arrival");
    assertThat(b.heard(SinkEvent.Received.class).getFirst().bytes()).containsExactly(1, 2, 3);
  }

  @Test
  final void aTooLongMessageIsRefused() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    int tooLong = a.transport().capabilities().maxMessageBytes() + 1;
    assertThatThrownBy(() -> endpoint.trySend(MemorySegment.ofArray(new byte[tooLong])).name())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(Integer.toString(tooLong));
  }

  @Test
  final void messagesAreSentBothWays() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint ab = net().connect(a, b, 1);
    Endpoint ba = b.to(0);
    for (int i = 0; i < 100; i++) {
      byte[] bytes = {(byte) i};
      net().post(() -> ab.trySend(MemorySegment.ofArray(bytes)));
      net().post(() -> ba.trySend(MemorySegment.ofArray(bytes)));
    }
    net()
        .until(
            () ->
                a.heard(SinkEvent.Received.class).size() == 100
                    && b.heard(SinkEvent.Received.class).size() == 100,
            "100 messages each way");
  }

  @Test
  final void aFlushedMessageArrivesWithoutAnotherPollOfItsSender() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    net().post(() -> endpoint.trySend(MemorySegment.ofArray(new byte[] {7})));
    a.transport().flush();
    long end = System.nanoTime() + waitFactor() * 20_000_000_000L;
    while (b.heard(SinkEvent.Received.class).isEmpty() && System.nanoTime() - end < 0) {
      if (b.poll() == 0) {
        b.transport().await(1_000_000);
      }
    }
    assertThat(b.heard(SinkEvent.Received.class)).hasSize(1);
  }

  @Test
  final void backPressureIsAReturnValueAndEndsByItself() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    MemorySegment message = MemorySegment.ofArray(new byte[1024]);
    int posted = 0;
    // The peer is not polled, so there is eventually no room.
    for (int i = 0; i < 1_000_000; i++) {
      message.set(ValueLayout.JAVA_INT_UNALIGNED, 0, posted);
      if (endpoint.trySend(message) == PostResult.POSTED) {
        posted++;
      } else if (a.poll() == 0) {
        break;
      }
    }
    assertThat(endpoint.trySend(message)).isEqualTo(PostResult.BACK_PRESSURED);
    int expected = posted;
    net()
        .until(() -> b.heard(SinkEvent.Received.class).size() == expected, "all that was accepted");
    net().post(() -> endpoint.trySend(message));
    net().until(() -> b.heard(SinkEvent.Received.class).size() == expected + 1, "one more");
    for (int i = 0; i < expected; i++) {
      MemorySegment received = MemorySegment.ofArray(b.heardMessage(i));
      assertThat(received.get(ValueLayout.JAVA_INT_UNALIGNED, 0)).isEqualTo(i);
    }
  }

  @Test
  final void everyArrivalIsCountedAsASignOfLife() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    Endpoint back = b.to(0);
    MemoryRegion from = a.region(1 << 20);
    MemoryRegion into = b.region(1 << 20);
    for (int i = 1; i <= 3; i++) {
      int messages = i;
      long sent = endpoint.bytesSent();
      long received = back.bytesReceived();
      net().post(() -> endpoint.trySend(MemorySegment.ofArray(new byte[0])));
      net().until(() -> b.heard(SinkEvent.Received.class).size() == messages, "an empty message");
      assertThat(endpoint.bytesSent()).isGreaterThan(sent);
      assertThat(back.bytesReceived()).isGreaterThan(received);
    }
    long sent = endpoint.bytesSent();
    long received = back.bytesReceived();
    net()
        .post(
            () ->
                endpoint.tryWrite(
                    from.slice(0, 1 << 20), Transfers.whole(into), 1, new CompletionRecord()));
    net().until(() -> b.heard(SinkEvent.Notified.class).size() == 1, "landed");
    assertThat(endpoint.bytesSent() - sent).isBetween(1L << 20, (1L << 20) + 4096);
    assertThat(back.bytesReceived() - received).isBetween(1L << 20, (1L << 20) + 4096);
    long all = back.bytesReceived();
    back.close();
    assertThat(back.bytesReceived()).isEqualTo(all);
  }

  @Test
  final void fourNodesSendToEachOther() {
    Node[] nodes = {net().node(0), net().node(1), net().node(2), net().node(3)};
    for (int i = 0; i < nodes.length; i++) {
      for (int j = i + 1; j < nodes.length; j++) {
        net().connect(nodes[i], nodes[j], j);
      }
    }
    for (int i = 0; i < nodes.length; i++) {
      for (int j = 0; j < nodes.length; j++) {
        if (i != j) {
          Endpoint endpoint = nodes[i].to(j);
          byte[] bytes = {(byte) i, (byte) j};
          net().post(() -> endpoint.trySend(MemorySegment.ofArray(bytes)));
        }
      }
    }
    for (int j = 0; j < nodes.length; j++) {
      Node node = nodes[j];
      net().until(() -> node.heard(SinkEvent.Received.class).size() == 3, "three messages");
      for (SinkEvent.Received received : node.heard(SinkEvent.Received.class)) {
        assertThat(received.bytes()).containsExactly(received.endpoint().node(), j);
      }
    }
  }
}
