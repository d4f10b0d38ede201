// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.dataparallel.LayerFactory;
import io.weft.gradient.GradientReducer;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/// The numbers by which ops name their communicator. TensorFlow makes a kernel from nothing but the
/// attributes of its node, which hold numbers and strings, so something in the process must turn a
/// number into an object; this is that table, one per process because TensorFlow's op registry is.
///
/// An entry refers to its communicator weakly and goes with it: nobody has to remove it. A kernel
/// holds its communicator strongly, from session to session's close. Thread-safe.
final class CommunicatorTable {

  private final Map<Integer, Entry> entries = new HashMap<>();
  private final Map<Communicator, GraphNumbers> graphs = new WeakHashMap<>();
  private final Map<Communicator, Steps> steps = new WeakHashMap<>();
  private int next;

  /// @param factory of the reducer, where the ops are gradients
  private record Entry(
      WeakReference<Communicator> communicator,
      KernelMode mode,
      GradientReducer.@Nullable Factory factory) {

    boolean isFor(Communicator other, KernelMode wanted, GradientReducer.@Nullable Factory by) {
      return mode == wanted && factory == by && communicator.refersTo(other);
    }
  }

  /// What a kernel needs to know of its communicator.
  ///
  /// @param reducer of gradients over it; null for ops that are no gradients, and where each step
  ///   takes one of `factory`
  /// @param factory of the reducers of gradients, if they travel by a layer
  /// @param steps whose ops use the communicator
  record Served(
      Communicator communicator,
      KernelMode mode,
      @Nullable GradientReducer reducer,
      @Nullable LayerFactory factory,
      Steps steps) {

    /// Returns the same for a step that takes this reducer.
    Served by(GradientReducer ofStep) {
      return new Served(communicator, mode, ofStep, factory, steps);
    }
  }

  /// The number of this communicator for kernels of this mode; the same at each call.
  ///
  /// @param factory of the reducer, where the ops are gradients
  synchronized int numberOf(
      Communicator communicator, KernelMode mode, GradientReducer.@Nullable Factory factory) {
    entries.values().removeIf(entry -> entry.communicator.refersTo(null));
    for (Map.Entry<Integer, Entry> candidate : entries.entrySet()) {
      if (candidate.getValue().isFor(communicator, mode, factory)) {
        return candidate.getKey();
      }
    }
    int number = next++;
    entries.put(number, new Entry(new WeakReference<>(communicator), mode, factory));
    return number;
  }

  /// Returns the first failure of the step that failed last over this communicator, if any has.
  synchronized Optional<CommException> failure(Communicator communicator) {
    Steps of = steps.get(communicator);
    return of == null ? Optional.empty() : of.failure();
  }

  /// The graphs on a communicator.
  synchronized GraphNumbers graphs(Communicator communicator) {
    return graphs.computeIfAbsent(communicator, _ -> new GraphNumbers());
  }

  /// The numbers of `from` stand for `to` from now on.
  synchronized void rebind(Communicator from, Communicator to) {
    entries.replaceAll(
        (number, entry) ->
            entry.communicator.refersTo(from)
                ? new Entry(new WeakReference<>(to), entry.mode, entry.factory)
                : entry);
    GraphNumbers kept = graphs.remove(from);
    if (kept != null) {
      graphs.put(to, kept);
    }
  }

  /// The communicator of this number, if it is known and not gone.
  synchronized @Nullable Communicator find(int number) {
    Entry entry = entries.get(number);
    return entry == null ? null : entry.communicator.get();
  }

  /// Throws `IllegalStateException` if the number is unknown or its communicator is gone.
  synchronized Served served(long number) {
    Entry entry = number == (int) number ? entries.get((int) number) : null;
    @Nullable Communicator communicator = entry == null ? null : entry.communicator.get();
    if (entry == null || communicator == null) {
      throw new IllegalStateException(
          "communicator "
              + number
              + " is not known in this process: a graph with Weft's ops runs only where it was"
              + " built, and its communicator must stay reachable while its sessions run");
    }
    GradientReducer.Factory factory = entry.factory;
    LayerFactory layer = factory instanceof LayerFactory known ? known : null;
    return new Served(
        communicator,
        entry.mode,
        factory == null || layer != null ? null : factory.over(communicator),
        layer,
        steps.computeIfAbsent(communicator, _ -> new Steps()));
  }

  /// Communicators that are still reachable.
  synchronized int size() {
    entries.values().removeIf(entry -> entry.communicator.refersTo(null));
    return entries.size();
  }
}
