// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.rendezvous.Edge;
import io.weft.rendezvous.RendezvousKey;
import io.weft.rendezvous.route.Route;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TransferWindowTest {

  private static final int MIB = 1 << 20;
  private static final MemorySegment MEMORY = Arena.ofAuto().allocate(9L * MIB, 64);

  private final TransferWindow window = new TransferWindow(Long.MAX_VALUE);
  private int edges;

  /// Returns a transfer of an edge of its own.
  private PendingTransfer transfer(int urgency, int bytes) {
    Edge edge = new Edge(0, 0, 1, "e" + edges);
    Route route = new Route(edge, edges++);
    route.prefer(urgency);
    TensorView tensor = new TensorView(DType.UINT8, Shape.of(bytes), MEMORY.asSlice(0, bytes));
    var submitted = new PendingTransfer.Submitted(0, 0);
    return new Publication(route, RendezvousKey.of(edge, 0), tensor, () -> {}, submitted);
  }

  private PendingTransfer ready(int urgency, int bytes) {
    PendingTransfer it = transfer(urgency, bytes);
    window.enter(it);
    return it;
  }

  /// Ends the part of a transfer as a completion does. Returns whether the transfer has ended.
  private boolean complete(PendingTransfer it) {
    it.unposted(true);
    if (it.leftBytes() > 0) {
      window.again(it);
      return false;
    }
    window.leave(it);
    return true;
  }

  @Test
  void urgentTransfersMoveFirstAndEqualOnesInOrderOfReadiness() {
    PendingTransfer early = ready(1, MIB);
    PendingTransfer late = ready(1, MIB);
    PendingTransfer least = ready(0, MIB);
    PendingTransfer most = ready(7, MIB);
    assertThat(List.of(window.next(), window.next(), window.next(), window.next()))
        .containsExactly(most, early, late, least);
    assertThat(window.next()).isNull();
  }

  @Test
  void aTransferWithoutRoomWaitsForAPlace() {
    PendingTransfer first = ready(0, 3 * MIB);
    assertThat(window.next()).isSameAs(first);
    PendingTransfer second = ready(0, 2 * MIB);
    assertThat(window.next()).isNull();
    assertThat(window.inProgressBytes()).isEqualTo(3L * MIB);
    assertThat(complete(first)).isTrue();
    assertThat(window.next()).isSameAs(second);
  }

  @Test
  void aTransferLongerThanTheWindowMovesInPartsThatAnUrgentOneOvertakes() {
    PendingTransfer whole = ready(0, 9 * MIB);
    assertThat(window.next()).isSameAs(whole);
    assertThat(whole.partBytes).isEqualTo(TransferWindow.BYTES);
    PendingTransfer needed = ready(1, MIB);
    PendingTransfer later = ready(0, MIB);
    assertThat(window.next()).as("the first part fills the window").isNull();
    assertThat(complete(whole)).isFalse();
    assertThat(window.next()).isSameAs(needed);
    assertThat(window.next()).as("the second part has no room").isNull();
    assertThat(complete(needed)).isTrue();
    assertThat(window.next()).as("the rest keeps its place before a later one").isSameAs(whole);
    assertThat(complete(whole)).isFalse();
    assertThat(window.next()).isSameAs(whole);
    assertThat(whole.partBytes).isEqualTo(MIB);
    assertThat(window.next()).isSameAs(later);
    assertThat(complete(whole)).isTrue();
    assertThat(complete(later)).isTrue();
    assertThat(window.inProgressBytes()).isZero();
  }

  @Test
  void partsAreAtMostTheTransportsLongestTransfer() {
    TransferWindow narrow = new TransferWindow(1000);
    PendingTransfer it = transfer(0, MIB);
    narrow.enter(it);
    assertThat(narrow.next()).isSameAs(it);
    assertThat(it.partBytes).isEqualTo(1000);
  }

  @Test
  void cancelledTransfersGiveBackTheirPlaces() {
    PendingTransfer moving = ready(0, 8 * MIB);
    PendingTransfer waiting = ready(0, MIB);
    PendingTransfer last = ready(0, MIB);
    assertThat(window.next()).isSameAs(moving);
    window.leave(waiting);
    assertThat(window.next()).isNull();
    window.leave(moving);
    assertThat(window.inProgressBytes()).isZero();
    assertThat(window.next()).isSameAs(last);
    window.leave(last);
    assertThat(window.hasWaiting()).isFalse();
    assertThat(window.inProgressBytes()).isZero();
  }

  @Test
  void aWaitingTransferIsNotOvertakenForever() {
    PendingTransfer patient = ready(0, MIB);
    int overtaking = 0;
    PendingTransfer urgent = ready(9, 4 * MIB);
    PendingTransfer next = window.next();
    while (next != patient) {
      assertThat(next).isSameAs(urgent);
      overtaking++;
      urgent = ready(9, 4 * MIB);
      assertThat(complete(next)).isTrue();
      next = window.next();
    }
    assertThat(overtaking * 4L * MIB)
        .isBetween(
            TransferWindow.OVERTAKEN_BYTES - 8L * MIB, TransferWindow.OVERTAKEN_BYTES + 8L * MIB);
  }

  @Test
  void randomTransfersMoveInTheOrderOfASortedList() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    List<PendingTransfer> model = new ArrayList<>();
    Comparator<PendingTransfer> order =
        Comparator.comparingInt((PendingTransfer it) -> -it.route.urgency())
            .thenComparingInt(it -> it.route.number());
    for (int i = 0; i < 5_000; i++) {
      switch (random.nextInt(4)) {
        case 0, 1 -> model.add(ready(random.nextInt(5), 1 + random.nextInt(1000)));
        case 2 -> {
          PendingTransfer next = window.next();
          if (model.isEmpty()) {
            assertThat(next).as("seed %d", seed).isNull();
          } else {
            model.sort(order);
            assertThat(next).as("seed %d", seed).isSameAs(model.removeFirst());
            window.leave(next);
          }
        }
        default -> {
          if (!model.isEmpty()) {
            window.leave(model.remove(random.nextInt(model.size())));
          }
        }
      }
    }
    assertThat(window.inProgressBytes()).as("seed %d", seed).isZero();
  }
}
