// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.transport.Endpoint;
import io.weft.transport.MemoryRegion;
import io.weft.transport.PostResult;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/// The contract of every transport. A transport's test extends this class and only defines the
/// provider under test and an address to listen on. The random tests take their seed from the
/// system property `weft.test.seed` and print it.
public abstract class TransportContract extends SharingContract {

  private static final int OPERATIONS = 2000;

  /// Constructor for subclasses.
  protected TransportContract() {}

  /// Returns the random operations of each side of a traffic test: fewer on an emulated machine.
  protected int operations() {
    return OPERATIONS;
  }

  @Test
  final void mixedVerbsArriveInPostingOrder() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    MemoryRegion from = a.region(1 << 20);
    MemoryRegion into = b.region(1 << 20);
    Random random = new Random(7);
    int[] lengths = {0, 10, 5000, 300_000};
    for (int i = 0; i < 500; i++) {
      int number = i;
      if (random.nextBoolean()) {
        byte[] bytes = {(byte) (i >> 8), (byte) i};
        net().post(() -> endpoint.trySend(MemorySegment.ofArray(bytes)));
      } else {
        long bytes = lengths[random.nextInt(lengths.length)];
        net()
            .post(
                () ->
                    endpoint.tryWrite(
                        from.slice(0, bytes),
                        Transfers.part(into, 0, bytes),
                        number,
                        new CompletionRecord()));
      }
    }
    net().until(() -> b.events().size() == 501, "everything arrives");
    for (int i = 0; i < 500; i++) {
      int number =
          switch (b.events().get(i + 1)) {
            case SinkEvent.Received received ->
                ((received.bytes()[0] & 0xFF) << 8) | (received.bytes()[1] & 0xFF);
            case SinkEvent.Notified notified -> notified.immediate();
            case SinkEvent.Connected connected -> -1;
            case SinkEvent.Failed failed -> -2;
          };
      assertThat(number).isEqualTo(i);
    }
  }

  @Test
  final void manyOperationsMayBeOutstanding() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    int max = a.transport().capabilities().maxInFlight();
    int each = 64;
    MemoryRegion into = a.region((long) max * each);
    MemoryRegion from = b.region((long) max * each, new Random(8));
    CompletionRecord[] outcomes = new CompletionRecord[max];
    int posted = 0;
    while (posted < max) {
      outcomes[posted] = new CompletionRecord();
      long at = (long) posted * each;
      PostResult result =
          endpoint.tryRead(into.slice(at, each), Transfers.part(from, at, each), outcomes[posted]);
      if (result == PostResult.BACK_PRESSURED) {
        break;
      }
      posted++;
    }
    assertThat(posted).as("reads posted without polling").isEqualTo(max);
    CompletionRecord extra = new CompletionRecord();
    assertThat(endpoint.tryRead(into.slice(0, each), Transfers.part(from, 0, each), extra))
        .isEqualTo(PostResult.BACK_PRESSURED);
    for (CompletionRecord outcome : outcomes) {
      net().until(outcome::isDone, "all reads complete");
      assertThat(outcome.succeeded()).isTrue();
    }
    assertThat(into.segment().mismatch(from.segment())).isEqualTo(-1);
    net().post(() -> endpoint.tryRead(into.slice(0, each), Transfers.part(from, 0, each), extra));
    net().until(extra::isDone, "one more");
  }

  @Test
  final void bytesSentCountsPayload() {
    Node a = net().node(0);
    Node b = net().node(1);
    Endpoint endpoint = net().connect(a, b, 1);
    MemoryRegion from = a.region(1 << 20);
    MemoryRegion into = b.region(1 << 20);
    long before = a.transport().bytesSent();
    net()
        .post(
            () ->
                endpoint.tryWrite(
                    from.slice(0, 1 << 20), Transfers.whole(into), 1, new CompletionRecord()));
    net().until(() -> b.heard(SinkEvent.Notified.class).size() == 1, "landed");
    assertThat(a.transport().bytesSent() - before).isBetween(1L << 20, (1L << 20) + 4096);
  }

  @RepeatedTest(3)
  final void randomTrafficBothWaysKeepsItsContents() throws InterruptedException {
    long seed = Long.getLong("weft.test.seed", System.nanoTime());
    System.getLogger("weft.contract")
        .log(System.Logger.Level.INFO, "weft.test.seed={0,number,#}", seed);
    try (TrafficPair pair = new TrafficPair(provider(), bind(), seed, operations(), waitFactor())) {
      pair.run();
    }
  }
}
