// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.traffic;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.weft.rendezvous.Arrival;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.ReceiveRequest;
import io.weft.rendezvous.Rendezvous;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.LongStream;

/// One side's tensors of a worker: those it sends and those it receives in each step, with contents
/// that identify them.
final class SimTransfers {

  private static final int ALIGNMENT = 64;
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private final SimTraffic traffic;
  private final Rendezvous rendezvous;
  private final int worker;
  private final List<Integer> tensors;
  private final List<Edge> out;
  private final List<Edge> in;
  private final Consumer<String> wrong;
  private final List<TensorView> memory;

  /// The tensors of both directions.
  ///
  /// @param numbers of the tensors in the order of `out` and `in`
  /// @param out edges of the tensors that this rank publishes
  /// @param in edges of the tensors that this rank receives
  record Tensors(List<Integer> numbers, List<Edge> out, List<Edge> in) {}

  /// @param wrong receives errors on the rank's progress thread
  SimTransfers(
      SimTraffic traffic, Rendezvous rendezvous, int worker, Tensors both, Consumer<String> wrong) {
    this.traffic = traffic;
    this.rendezvous = rendezvous;
    this.worker = worker;
    this.tensors = both.numbers();
    this.out = both.out();
    this.in = both.in();
    this.wrong = wrong;
    memory = memory(traffic.bytes(), tensors.size());
  }

  private static List<TensorView> memory(int bytes, int tensors) {
    Shape shape = Shape.of(bytes / 4);
    MemorySegment all = Arena.ofAuto().allocate((long) bytes * tensors, ALIGNMENT);
    return LongStream.range(0, tensors)
        .mapToObj(i -> new TensorView(DType.INT32, shape, all.asSlice(i * bytes, bytes)))
        .toList();
  }

  long step(int number) {
    return SimTraffic.step(worker, number);
  }

  /// Publishes all tensors of a step together. `fetched` runs when all have been fetched.
  void send(int number, Runnable fetched) {
    var left = new Countdown(tensors.size(), fetched);
    List<Rendezvous.Offer> offers = new ArrayList<>(tensors.size());
    for (int i = 0; i < tensors.size(); i++) {
      TensorView tensor = memory.get(i);
      int content = SimTraffic.content(tensors.get(i), worker, number);
      tensor.data().set(JAVA_INT, 0, content);
      tensor.data().set(JAVA_INT, tensor.data().byteSize() - 4, content);
      RendezvousKey key = RendezvousKey.of(out.get(i), step(number));
      offers.add(new Rendezvous.Offer(key, tensor, left::one));
    }
    rendezvous.publishAll(offers);
  }

  /// Requests all tensors of a step. `arrived` runs when all have arrived and their contents are
  /// checked.
  void receive(int number, Runnable arrived) {
    var left = new Countdown(tensors.size(), arrived);
    List<ReceiveRequest> wishes = new ArrayList<>(tensors.size());
    for (int i = 0; i < tensors.size(); i++) {
      int content = SimTraffic.content(tensors.get(i), worker, number);
      wishes.add(
          new ReceiveRequest(
              RendezvousKey.of(in.get(i), step(number)),
              arrival -> {
                check(arrival, content);
                left.one();
              }));
    }
    rendezvous.receiveAll(wishes, LIMIT);
  }

  private void check(Arrival arrival, int content) {
    if (!(arrival instanceof Arrival.Live(var tensor))) {
      wrong.accept("worker " + worker + " and its servers: " + arrival);
      return;
    }
    try (tensor) {
      int first = tensor.view().data().get(JAVA_INT, 0);
      int last = tensor.view().data().get(JAVA_INT, traffic.bytes() - 4L);
      if (first != content || last != content) {
        wrong.accept(
            "a tensor of worker %d has %d and %d, expected %d"
                .formatted(worker, first, last, content));
      }
    }
  }

  /// A counter that runs an action after `count` calls.
  private static final class Countdown {
    private final Runnable then;
    private int left;

    Countdown(int count, Runnable then) {
      left = count;
      this.then = then;
    }

    void one() {
      left--;
      if (left == 0) {
        then.run();
      }
    }
  }
}
