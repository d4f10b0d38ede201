// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.transport.Address;
import io.weft.transport.Endpoint;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PostResult;
import io.weft.transport.TransportException;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.Credentials;
import io.weft.transport.spi.TransportProvider;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The contract of connections: connecting, refusing and losing endpoints.
@Timeout(value = 60, unit = TimeUnit.SECONDS)
public abstract class ConnectionContract {

  private @Nullable Net net;

  /// Constructor for subclasses.
  protected ConnectionContract() {}

  /// Returns the transport under test.
  protected abstract TransportProvider provider();

  /// Returns an address at which any number of transports can be opened.
  protected abstract String bind();

  /// Returns the factor of all time limits: more than 1 on an emulated machine.
  protected int waitFactor() {
    return 1;
  }

  /// Returns the nodes of the current test.
  final Net net() {
    Net open = net;
    if (open == null) {
      throw new IllegalStateException("no test is running");
    }
    return open;
  }

  @BeforeEach
  final void openNet() {
    net = new Net(provider(), bind(), waitFactor());
  }

  @AfterEach
  final void closeNet() {
    net().close();
  }

  @Test
  final void theProviderReportsItsSchemeAndCapabilities() {
    assertThat(provider().probe()).isInstanceOf(Availability.Available.class);
    Node node = net().node(0);
    assertThat(node.address().scheme()).isEqualTo(provider().scheme());
    assertThat(Address.parse(node.address().toString())).isEqualTo(node.address());
    assertThat(node.transport().capabilities().maxMessageBytes()).isGreaterThanOrEqualTo(4096);
    assertThat(node.transport().capabilities().maxInFlight()).isPositive();
  }

  @Test
  final void bothEndsLearnOfTheConnectionAndOfEachOther() {
    Node a = net().node(3);
    Node b = net().node(7);
    Endpoint endpoint = net().connect(a, b, 7);
    assertThat(endpoint.node()).isEqualTo(7);
    assertThat(b.connected()).hasSize(1);
    assertThat(b.connected().getFirst().node()).isEqualTo(3);
  }

  @Test
  final void postsAreBackPressuredBeforeTheConnection() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = a.transport().connect(b.address(), 1);
    assertThat(endpoint.trySend(MemorySegment.ofArray(new byte[8])))
        .isEqualTo(PostResult.BACK_PRESSURED);
    MemoryRegion from = a.region(8);
    MemoryRegion into = b.region(8);
    assertThat(
            endpoint.tryWrite(from.slice(0, 8), Transfers.whole(into), 0, new CompletionRecord()))
        .isEqualTo(PostResult.BACK_PRESSURED);
    from.close();
  }

  @Test
  final void connectWaitsForAPeerThatOpensLater() {
    Node first = net().node(1);
    Address address = first.address();
    first.transport().close();
    Node a = net().node(0);
    Endpoint endpoint = a.transport().connect(address, 1);
    for (int i = 0; i < 10; i++) {
      a.poll();
    }
    Node b = net().add(Node.open(provider(), address.location(), 1));
    net().until(() -> a.connected().contains(endpoint), "connected to the late peer");
    assertThat(b.address()).isEqualTo(address);
  }

  @Test
  final void connectGivesUpAtTheDeadline() {
    Node gone = net().node(1);
    Address address = gone.address();
    gone.transport().close();
    Node a = net().add(Node.open(provider(), bind(), Duration.ofMillis(300), Node.credentials(0)));
    a.transport().connect(address, 1);
    assertLost(a, "rank 1", address.toString());
  }

  @Test
  final void addressInUseIsRefused() {
    Node a = net().node(0);
    assertThatThrownBy(() -> Node.open(provider(), a.address().location(), 1))
        .isInstanceOf(TransportException.DeviceLost.class)
        .hasMessageContaining(a.address().location())
        .hasMessageContaining("in use");
  }

  @Test
  final void wrongSecretIsRefused() {
    refused(new Credentials("contract", 1, 1, Node.secret("some other secret")), "secret");
  }

  @Test
  final void wrongEpochIsRefused() {
    refused(new Credentials("contract", 2, 1, Node.credentials(1).secret()), "epoch");
  }

  @Test
  final void wrongJobIsRefused() {
    refused(new Credentials("another", 1, 1, Node.credentials(1).secret()), "job");
  }

  @Test
  final void wrongNodeIsRefused() {
    refused(Node.credentials(2), "node");
  }

  private void refused(Credentials responder, String reason) {
    Node a = net().node(0);
    Node b = net().node(responder);
    a.transport().connect(b.address(), 1);
    assertLost(a, "rank 1", b.address().toString(), reason);
    for (int i = 0; i < 100; i++) {
      net().poll();
    }
    assertThat(b.events()).isEmpty();
  }

  @Test
  final void closeIsReportedOnceToThePeerAndNotToTheCaller() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    endpoint.close();
    endpoint.close();
    assertLost(b, "rank 0");
    for (int i = 0; i < 100; i++) {
      net().poll();
    }
    assertThat(b.heard(SinkEvent.Failed.class)).hasSize(1);
    assertThat(a.heard(SinkEvent.Failed.class)).isEmpty();
    MemorySegment message = MemorySegment.ofArray(new byte[8]);
    assertThat(endpoint.trySend(message)).isEqualTo(PostResult.CLOSED);
    assertThat(b.to(0).trySend(message)).isEqualTo(PostResult.CLOSED);
  }

  @Test
  final void messagesSentBeforeCloseArriveBeforeTheEnd() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    for (int i = 0; i < 10; i++) {
      byte[] bytes = {(byte) i};
      net().post(() -> endpoint.trySend(MemorySegment.ofArray(bytes)));
    }
    endpoint.close();
    net().until(() -> !b.heard(SinkEvent.Failed.class).isEmpty(), "the peer hears of the end");
    assertThat(b.heard(SinkEvent.Received.class)).hasSize(10);
    assertThat(b.events().getLast()).isInstanceOf(SinkEvent.Failed.class);
  }

  @Test
  final void allPeersLearnOfAClosedTransport() {
    Node a = net().node(0);
    Node b = net().node(1);
    Node c = net().node(2);
    net().connect(a, b, 1);
    net().connect(a, c, 2);
    a.transport().close();
    a.transport().close();
    assertLost(b, "rank 0");
    assertLost(c, "rank 0");
  }

  @Test
  final void aLostEndpointLeavesTheOthersUsable() {
    Node a = net().node(0);
    Node b = net().node(1);
    Node c = net().node(2);
    net().connect(a, b, 1);
    Endpoint other = net().connect(a, c, 2);
    b.transport().close();
    assertLost(a, "rank 1");
    net().post(() -> other.trySend(MemorySegment.ofArray(new byte[] {42})));
    net().until(() -> c.heard(SinkEvent.Received.class).size() == 1, "the other endpoint works");
  }

  @Test
  final void wakeFromAnotherThreadEndsAwait() throws InterruptedException {
    Node a = net().node(0);
    CountDownLatch awake = new CountDownLatch(1);
    Thread waiter =
        new Thread(
            () -> {
              a.transport().await(TimeUnit.SECONDS.toNanos(30));
              awake.countDown();
            });
    waiter.start();
    a.transport().wake();
    assertThat(awake.await(10, TimeUnit.SECONDS)).as("await ended").isTrue();
    waiter.join(10_000);
  }

  @Test
  final void wakeIsNotLostInAPoll() {
    Node a = net().node(0);
    for (int i = 0; i < 100; i++) {
      a.transport().wake();
      a.poll();
      long start = System.nanoTime();
      a.transport().await(TimeUnit.SECONDS.toNanos(30));
      assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(10));
    }
  }

  @Test
  final void awaitSleepsWhileTheKernelOrThePeerIsFull() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    MemoryRegion from = a.region(64 << 20);
    MemoryRegion into = b.region(64 << 20);
    CompletionRecord done = new CompletionRecord();
    net().post(() -> endpoint.tryWrite(from.slice(0, 64 << 20), Transfers.whole(into), 1, done));
    // The receiver also awaits, so that an await that never sleeps or never ends is detected.
    long awaits = 0;
    while (b.heard(SinkEvent.Notified.class).isEmpty()) {
      a.poll();
      a.transport().await(1_000_000);
      b.poll();
      awaits++;
      assertThat(awaits).isLessThan(1_000_000);
    }
    net().until(done::isDone, "the write completes");
    for (int i = 0; i < 20; i++) {
      a.poll();
    }
    long start = System.nanoTime();
    for (int i = 0; i < 20; i++) {
      a.transport().await(2_000_000);
      a.poll();
    }
    assertThat(System.nanoTime() - start)
        .as("nanoseconds of 20 awaits of 2 ms")
        .isGreaterThan(20_000_000);
  }

  /// Polls until `node` is notified of a lost endpoint, for a reason with these words.
  final void assertLost(Node node, String... words) {
    net().until(() -> !node.heard(SinkEvent.Failed.class).isEmpty(), "the loss is heard");
    assertThat(node.heard(SinkEvent.Failed.class).getFirst().cause())
        .isInstanceOf(TransportException.EndpointLost.class)
        .hasMessageContainingAll(words);
  }
}
