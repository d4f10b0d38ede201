// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.local;

import io.weft.collective.Communicator;
import io.weft.gradient.GradientReducer;
import io.weft.tensor.DType;
import io.weft.tensor.TensorView;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;

/// Local SGD with an outer optimizer. Each rank trains by itself. Every H steps the change of its
/// weights is averaged over the ranks, and an outer optimizer computes new weights from that mean
/// [DILOCO §2]. With F fragments it is the streaming form: fragment f is exchanged H/F steps after
/// fragment f-1, in the background, and the result is applied some steps later. A step then never
/// waits for the whole model, and the network load is even [STREAMING §2]. The ranks' inner
/// optimizers keep their own state.
///
/// ```java
/// var local = new LocalSgd(communicator, LocalSgdOptions.every(50).inBits(8), weights);
/// for (...) {
///   train(batch);
///   local.step();
/// }
/// local.synchronize();
/// ```
///
/// After its exchange a fragment has the same bits on all ranks. Every method except the counters
/// is collective: all ranks must make the same calls in the same order. One thread. At most one
/// instance may use a communicator at a time. After an exception of an exchange, the program must
/// begin anew from equal weights.
public final class LocalSgd {

  private final LocalSgdOptions options;
  private final GradientReducer reducer;
  private final List<Fragment> fragments;
  private final List<Long> payloads;
  private long steps;
  private long bytes;

  /// Creates local SGD from these weights, which must be equal on all ranks; see
  /// `Communicator.broadcast`. The weights are borrowed while the instance is used. It allocates
  /// three times the memory of the weights, or six to eight times with 8 or 4 bits. Throws
  /// `IllegalArgumentException` for a tensor that is not FLOAT32, or more fragments than tensors.
  ///
  /// @param weights tensors by name, in the same order on all ranks
  public LocalSgd(
      Communicator communicator,
      LocalSgdOptions options,
      SequencedMap<String, TensorView> weights) {
    this.options = options;
    weights.forEach(LocalSgd::requireFloats);
    List<String> names = List.copyOf(weights.sequencedKeySet());
    List<TensorView> tensors = List.copyOf(weights.sequencedValues());
    List<Long> elements = tensors.stream().map(tensor -> tensor.shape().elements()).toList();
    var cut = new ArrayList<Fragment>();
    var sources = new HashMap<String, FragmentSource>();
    for (List<Integer> part : Fragments.cut(elements, options.fragments())) {
      String name = "weft/local-sgd/" + cut.size();
      cut.add(new Fragment(name, part.stream().map(tensors::get).toList()));
      sources.put(
          name,
          new FragmentSource(
              part.stream().map(names::get).toList(), part.stream().map(elements::get).toList()));
    }
    this.fragments = List.copyOf(cut);
    this.reducer =
        options
            .compression()
            .reducers((name, index) -> Objects.requireNonNull(sources.get(name)).of(index))
            .reducer(communicator);
    this.payloads =
        fragments.stream()
            .map(f -> options.compression().payloadBytes(f.elements(), communicator.size()))
            .toList();
  }

  private static void requireFloats(String name, TensorView tensor) {
    if (tensor.dtype() != DType.FLOAT32) {
      throw new IllegalArgumentException(
          "weight '" + name + "' is " + tensor.signature() + "; local SGD takes FLOAT32");
    }
  }

  /// Returns true if the next `step` reads or writes the weights.
  public boolean isNextExchange() {
    long next = steps + 1;
    for (int i = 0; i < fragments.size(); i++) {
      if (fragments.get(i).isDue(next) || starts(i, next)) {
        return true;
      }
    }
    return false;
  }

  private boolean starts(int fragment, long step) {
    long since = step - options.offset(fragment);
    return since >= 0 && since % options.every() == 0;
  }

  /// Counts a training step that this rank has taken. Waits for the exchanges that are due and
  /// applies them, then starts the exchanges of this step. Throws `CommException` as a collective
  /// does. With 8 or 4 bits it also throws `Broken`, which names the weight, for a weight that is
  /// not finite.
  public void step() throws InterruptedException {
    steps++;
    for (Fragment fragment : fragments) {
      if (fragment.isDue(steps)) {
        fragment.apply(options.outer(), steps);
      }
    }
    for (int i = 0; i < fragments.size(); i++) {
      if (starts(i, steps)) {
        start(i, steps + options.delay());
      }
    }
    if (options.delay() == 0) {
      applyAll();
    }
  }

  /// Exchanges every fragment that may have changed since the ranks agreed on it, and waits. The
  /// ranks then have equal weights, for an evaluation, a checkpoint or the end of training. Throws
  /// as `step` does.
  public void synchronize() throws InterruptedException {
    applyAll();
    for (int i = 0; i < fragments.size(); i++) {
      if (!fragments.get(i).isAgreed(steps)) {
        start(i, steps);
      }
    }
    applyAll();
  }

  private void start(int fragment, long applied) {
    fragments.get(fragment).start(reducer, applied);
    bytes += payloads.get(fragment);
  }

  private void applyAll() throws InterruptedException {
    for (Fragment fragment : fragments) {
      if (fragment.isUnderWay()) {
        fragment.apply(options.outer(), steps);
      }
    }
  }

  /// Returns the number of training steps.
  public long steps() {
    return steps;
  }

  /// Returns the number of completed outer steps of the fragment that has the fewest.
  public long outerSteps() {
    return fragments.stream().mapToLong(Fragment::updates).min().orElseThrow();
  }

  /// Returns the bytes that this rank has sent for exchanges, without message headers.
  public long payloadBytes() {
    return bytes;
  }
}
