// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.traffic;

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
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.LongStream;

/// One side's tensors of one worker: those it sends and those it receives in each step. The first
/// and the last four bytes of a tensor encode tensor, worker and step, and are inverted in a
/// worker's last gradients. Only one thread at a time may use it. Callbacks run on the progress
/// thread.
public final class StepTransfers {

  private static final int ALIGNMENT = 64;
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final int FACTOR = 31;

  private final Rendezvous rendezvous;
  private final int worker;
  private final Tensors tensors;
  private final Consumer<String> wrong;
  private final List<TensorView> memory;

  /// The tensors of both directions.
  ///
  /// @param numbers numbers of the tensors in the order of `out` and `in`
  /// @param out edges of the tensors that this rank publishes
  /// @param in edges of the tensors that this rank receives
  public record Tensors(List<Integer> numbers, List<Edge> out, List<Edge> in) {

    /// Copies the lists.
    public Tensors {
      numbers = List.copyOf(numbers);
      out = List.copyOf(out);
      in = List.copyOf(in);
    }
  }

  /// Creates one side of a worker.
  ///
  /// @param bytes size of each tensor, a multiple of 4
  /// @param wrong receives errors
  public StepTransfers(
      Rendezvous rendezvous, int worker, int bytes, Tensors tensors, Consumer<String> wrong) {
    this.rendezvous = Objects.requireNonNull(rendezvous);
    this.worker = worker;
    this.tensors = Objects.requireNonNull(tensors);
    this.wrong = Objects.requireNonNull(wrong);
    memory = memory(bytes, tensors.numbers().size());
  }

  private static List<TensorView> memory(int bytes, int tensors) {
    Shape shape = Shape.of(bytes / Integer.BYTES);
    MemorySegment all = Arena.ofAuto().allocate((long) bytes * tensors, ALIGNMENT);
    return LongStream.range(0, tensors)
        .mapToObj(i -> new TensorView(DType.INT32, shape, all.asSlice(i * bytes, bytes)))
        .toList();
  }

  private long step(long number) {
    return RendezvousKey.step(worker, number);
  }

  private int content(int tensor, long number) {
    return ((tensor * FACTOR + worker) * FACTOR + (int) number) & Integer.MAX_VALUE;
  }

  /// Publishes all tensors of a step. `fetched` runs when their memory is no longer used.
  ///
  /// @param last whether these are the last tensors of the worker
  public void send(long number, boolean last, Runnable fetched) {
    Countdown left = new Countdown(memory.size(), Objects.requireNonNull(fetched));
    List<Rendezvous.Offer> offers = new ArrayList<>(memory.size());
    for (int i = 0; i < memory.size(); i++) {
      MemorySegment data = memory.get(i).data();
      int content = content(tensors.numbers().get(i), number);
      data.set(JAVA_INT, 0, last ? ~content : content);
      data.set(JAVA_INT, data.byteSize() - Integer.BYTES, last ? ~content : content);
      RendezvousKey key = RendezvousKey.of(tensors.out().get(i), step(number));
      offers.add(new Rendezvous.Offer(key, memory.get(i), left::one));
    }
    rendezvous.publishAll(offers);
  }

  /// Requests all tensors of a step. When all have arrived, `arrived` receives true if they are the
  /// last ones.
  public void receive(long number, Consumer<Boolean> arrived) {
    Objects.requireNonNull(arrived);
    boolean[] last = {false};
    Countdown left = new Countdown(memory.size(), () -> arrived.accept(last[0]));
    List<ReceiveRequest> wishes = new ArrayList<>(memory.size());
    for (int i = 0; i < memory.size(); i++) {
      int content = content(tensors.numbers().get(i), number);
      wishes.add(
          new ReceiveRequest(
              RendezvousKey.of(tensors.in().get(i), step(number)),
              arrival -> {
                last[0] = check(arrival, content);
                left.one();
              }));
    }
    rendezvous.receiveAll(wishes, LIMIT);
  }

  /// Ends a step, whose tensors are no longer needed.
  public void end(long number) {
    rendezvous.end(step(number));
  }

  private boolean check(Arrival arrival, int content) {
    if (!(arrival instanceof Arrival.Live(var tensor))) {
      wrong.accept("worker " + worker + " and its servers: " + arrival);
      return false;
    }
    try (tensor) {
      MemorySegment data = tensor.view().data();
      int first = data.get(JAVA_INT, 0);
      int end = data.get(JAVA_INT, data.byteSize() - Integer.BYTES);
      if (first != end || (first != content && first != ~content)) {
        wrong.accept(
            "a tensor of worker %d has %d and %d, expected %d"
                .formatted(worker, first, end, content));
      }
      return first < 0;
    }
  }

  /// A counter that runs an action after `count` calls. Confined to one thread.
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
