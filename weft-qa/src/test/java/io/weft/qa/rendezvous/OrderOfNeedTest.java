// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.rendezvous;

import static io.weft.qa.rendezvous.Receipts.awaitEmpty;
import static io.weft.qa.rendezvous.Receipts.model;
import static io.weft.qa.rendezvous.Receipts.receive;
import static io.weft.qa.rendezvous.Receipts.words;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.ReceiveRequest;
import io.weft.rendezvous.Rendezvous;
import io.weft.rendezvous.RendezvousConfig;
import io.weft.rendezvous.RendezvousKey;
import io.weft.testkit.job.LocalJob;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Checks that long tensors arrive in the order of their urgency, over each transport with each
/// protocol.
@Timeout(120)
class OrderOfNeedTest {

  /// 12 MiB: several parts.
  private static final int LARGE = 3 << 19;

  /// Above the limit of a tensor inside a message.
  private static final int SMALL = 20_000;

  private static final int OTHERS = 6;

  private final AtomicInteger out = new AtomicInteger();
  private final List<String> order = Collections.synchronizedList(new ArrayList<>());

  static Stream<Arguments> ways() {
    return Stream.of("inproc", "tcp", "shm")
        .flatMap(t -> Stream.of("read", "write").map(p -> Arguments.of(t, p)));
  }

  private static LocalJob job(String transport, String protocol, int size) {
    return LocalJob.start(
        size,
        WeftConfig.builder().transport(transport).set(RendezvousConfig.PROTOCOL, protocol).build());
  }

  private static Edge edge(String name) {
    return new Edge(0, 3, 1, name);
  }

  private static void prefer(LocalJob job, String name, int urgency) {
    job.ranks().forEach(weft -> weft.rendezvous().prefer(edge(name), urgency));
  }

  private Map<String, CompletableFuture<Arrival>> receiveAll(
      LocalJob job, long step, String... names) {
    return receiveAll(job, step, () -> {}, names);
  }

  /// Receives these tensors of a step together. Their names are noted in the order of arrival.
  ///
  /// @param first runs on the progress thread when the first of them arrives
  private Map<String, CompletableFuture<Arrival>> receiveAll(
      LocalJob job, long step, Runnable first, String... names) {
    Map<String, CompletableFuture<Arrival>> arrivals = new HashMap<>();
    List<ReceiveRequest> wishes = new ArrayList<>();
    for (String name : names) {
      var arrival = new CompletableFuture<Arrival>();
      arrivals.put(name, arrival);
      wishes.add(
          new ReceiveRequest(
              RendezvousKey.of(edge(name), step),
              it -> {
                order.add(name);
                if (name.equals(names[0])) {
                  first.run();
                }
                arrival.complete(it);
              }));
    }
    job.ranks().get(1).rendezvous().receiveAll(wishes, Receipts.LONG);
    return arrivals;
  }

  private void end(LocalJob job, long step) {
    job.ranks().forEach(weft -> weft.rendezvous().end(step));
    job.ranks().forEach(Receipts::awaitEmpty);
    assertThat(out).as("tensors that are not released").hasValue(0);
  }

  /// With the write protocol, the first step has no memory at the producer, the second has.
  @ParameterizedTest
  @MethodSource("ways")
  void aNeededTensorArrivesBeforeALargeOneThatWasReadyFirst(String transport, String protocol) {
    try (LocalJob job = job(transport, protocol, 2)) {
      prefer(job, "needed", 2);
      prefer(job, "sooner", 1);
      String[] names = {"large", "sooner", "needed"};
      for (long step = 0; step < 3; step++) {
        order.clear();
        for (String name : names) {
          Receipts.publish(
              job.ranks().getFirst(),
              RendezvousKey.of(edge(name), step),
              name.equals("large") ? LARGE : SMALL,
              step,
              out);
        }
        var arrivals = receiveAll(job, step, names);
        assertThat(words(arrivals.get("large"))).isEqualTo(model(LARGE, step));
        assertThat(words(arrivals.get("sooner"))).isEqualTo(model(SMALL, step));
        assertThat(words(arrivals.get("needed"))).isEqualTo(model(SMALL, step));
        assertThat(order).as("step %d", step).containsExactly("needed", "sooner", "large");
        end(job, step);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("ways")
  void equallyUrgentTensorsArriveInOrderOfReadiness(String transport, String protocol) {
    try (LocalJob job = job(transport, protocol, 2)) {
      Receipts.publish(job.ranks().getFirst(), RendezvousKey.of(edge("large"), 0), LARGE, 1, out);
      Receipts.publish(job.ranks().getFirst(), RendezvousKey.of(edge("small"), 0), SMALL, 2, out);
      var arrivals = receiveAll(job, 0, "large", "small");
      assertThat(words(arrivals.get("small"))).isEqualTo(model(SMALL, 2));
      assertThat(words(arrivals.get("large"))).isEqualTo(model(LARGE, 1));
      assertThat(order).containsExactly("large", "small");
      end(job, 0);
    }
  }

  /// The needed tensor becomes ready when the first of the others has moved. Its signature is known
  /// from an earlier step, so that it can be written at once. The thread that orders the transfers
  /// continues when it can know of the needed tensor.
  @ParameterizedTest
  @MethodSource("ways")
  void aNeededTensorOvertakesTensorsThatAreMoving(String transport, String protocol) {
    try (LocalJob job = job(transport, protocol, 2)) {
      Rendezvous source = job.ranks().getFirst().rendezvous();
      prefer(job, "needed", 1);
      Receipts.publish(job.ranks().getFirst(), RendezvousKey.of(edge("needed"), 0), SMALL, 8, out);
      assertThat(words(receiveAll(job, 0, "needed").get("needed"))).isEqualTo(model(SMALL, 8));
      end(job, 0);
      order.clear();
      Rendezvous.Offer needed = Receipts.offer(RendezvousKey.of(edge("needed"), 1), SMALL, 9, out);
      boolean reads = protocol.equals("read");
      Runnable publish =
          () -> {
            long before = source.counts().totals().messages();
            source.publish(needed.key(), needed.tensor(), needed.release());
            while (reads && source.counts().totals().messages() == before) {
              Thread.onSpinWait();
            }
          };
      Runnable nothing = () -> {};
      var arrival = receiveAll(job, 1, "needed").get("needed");
      String[] others = new String[OTHERS];
      for (int i = 0; i < OTHERS; i++) {
        others[i] = "other" + i;
        Rendezvous.Offer other =
            Receipts.offer(RendezvousKey.of(edge(others[i]), 1), LARGE, i, out);
        Runnable moved = i == 0 && !reads ? publish : nothing;
        source.publish(
            other.key(),
            other.tensor(),
            () -> {
              moved.run();
              other.release().run();
            });
      }
      var arrivals = receiveAll(job, 1, reads ? publish : nothing, others);
      for (int i = 0; i < OTHERS; i++) {
        assertThat(words(arrivals.get(others[i]))).isEqualTo(model(LARGE, i));
      }
      assertThat(words(arrival)).isEqualTo(model(SMALL, 9));
      assertThat(order.indexOf("needed")).as("%s", order).isLessThan(OTHERS - 1);
      assertThat(order.stream().filter(name -> !name.equals("needed"))).containsExactly(others);
      end(job, 1);
    }
  }

  /// Steps that are aborted or ended by either rank, or whose deadline passes, while transfers move
  /// and wait.
  @ParameterizedTest
  @MethodSource("ways")
  void cancelledTransfersGiveBackTheirPlaces(String transport, String protocol) {
    try (LocalJob job = job(transport, protocol, 2)) {
      for (long step = 0; step < 12; step++) {
        for (int i = 0; i < 3; i++) {
          Receipts.publish(
              job.ranks().getFirst(), RendezvousKey.of(edge("e" + i), step), LARGE / 3, i, out);
        }
        var arrivals = receiveAll(job, step, "e0", "e1", "e2");
        arrivals
            .values()
            .forEach(
                arrival ->
                    arrival.thenAccept(
                        it -> {
                          if (it instanceof Arrival.Live(var tensor)) {
                            tensor.close();
                          }
                        }));
        Rendezvous ending = job.ranks().get((int) (step % 2)).rendezvous();
        if (step % 4 < 2) {
          ending.abort(step, "cancelled");
        } else {
          ending.end(step);
        }
        end(job, step);
      }
      Receipts.publish(job.ranks().getFirst(), RendezvousKey.of(edge("e0"), 12), LARGE, 5, out);
      assertThat(words(receive(job.ranks().get(1), RendezvousKey.of(edge("e0"), 12))))
          .isEqualTo(model(LARGE, 5));
      end(job, 12);
    }
  }

  @ParameterizedTest
  @MethodSource("ways")
  void transfersOfARankThatLeavesGiveBackTheirPlaces(String transport, String protocol) {
    try (LocalJob job = job(transport, protocol, 3)) {
      Weft survivor = job.ranks().getFirst();
      List<CompletableFuture<Arrival>> arrivals = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        RendezvousKey there = RendezvousKey.of(new Edge(0, 3, 2, "there" + i), 0);
        RendezvousKey here = RendezvousKey.of(new Edge(2, 3, 0, "here" + i), 0);
        Receipts.publish(survivor, there, LARGE, i, out);
        Receipts.publish(job.ranks().get(2), here, LARGE, i, out);
        arrivals.add(receive(job.ranks().get(2), there));
        arrivals.add(receive(survivor, here));
      }
      job.ranks().get(2).close();
      for (CompletableFuture<Arrival> arrival : arrivals) {
        if (Receipts.of(arrival) instanceof Arrival.Live(var tensor)) {
          tensor.close();
        }
      }
      RendezvousKey key = RendezvousKey.of(edge("after"), 0);
      Receipts.publish(survivor, key, LARGE, 4, out);
      assertThat(words(receive(job.ranks().get(1), key))).isEqualTo(model(LARGE, 4));
      for (Weft weft : job.ranks().subList(0, 2)) {
        weft.rendezvous().end(0);
        awaitEmpty(weft);
      }
      assertThat(out).as("tensors that are not released").hasValue(0);
    }
  }

  @ParameterizedTest
  @MethodSource("ways")
  void impossibleUrgenciesAreRefused(String transport, String protocol) {
    try (LocalJob job = job(transport, protocol, 3)) {
      Rendezvous third = job.ranks().get(2).rendezvous();
      assertThatThrownBy(() -> third.prefer(edge("elsewhere"), 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("does not belong to rank 2");
      assertThatThrownBy(() -> job.ranks().getFirst().rendezvous().prefer(edge("e"), -1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("urgency -1");
    }
  }
}
