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

/// The table of numbers by which ops name their communicator. TensorFlow creates a kernel from only
/// the attributes of its node, which hold numbers and strings, so this table maps a number to its
/// communicator. There is one table per process because TensorFlow has one op registry per process.
///
/// An entry refers to its communicator weakly and disappears with it. A kernel holds its
/// communicator strongly, from the creation of the session to its close. Thread-safe.
final class CommunicatorTable {

  private final Map<Integer, Entry> entries = new HashMap<>();
  private final Map<Communicator, GraphNumbers> graphs = new WeakHashMap<>();
  private final Map<Communicator, Steps> steps = new WeakHashMap<>();
  private int next;

  /// @param factory the factory of the reducer for gradient ops
  private record Entry(
      WeakReference<Communicator> communicator,
      KernelMode mode,
      GradientReducer.@Nullable Factory factory) {

    boolean isFor(Communicator other, KernelMode wanted, GradientReducer.@Nullable Factory by) {
      return mode == wanted && factory == by && communicator.refersTo(other);
    }
  }

  /// The communicator data that a kernel needs.
  ///
  /// @param reducer averages gradients over the communicator; null for other ops, and if each step
  ///   takes a reducer of `factory`
  /// @param factory the factory of gradient reducers, if gradients use a data-parallel layer
  /// @param steps the steps whose ops use the communicator
  record Served(
      Communicator communicator,
      KernelMode mode,
      @Nullable GradientReducer reducer,
      @Nullable LayerFactory factory,
      Steps steps) {

    /// Returns a copy for a step that uses this reducer.
    Served by(GradientReducer ofStep) {
      return new Served(communicator, mode, ofStep, factory, steps);
    }
  }

  /// Returns the number of this communicator for kernels of this mode, equal at each call.
  ///
  /// @param factory the factory of the reducer for gradient ops
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

  /// Returns the first failure of the most recently failed step over this communicator, if any.
  synchronized Optional<CommException> failure(Communicator communicator) {
    Steps of = steps.get(communicator);
    return of == null ? Optional.empty() : of.failure();
  }

  synchronized GraphNumbers graphs(Communicator communicator) {
    return graphs.computeIfAbsent(communicator, _ -> new GraphNumbers());
  }

  /// Binds the numbers of `from` to `to`.
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

  /// Returns the communicator of this number, or null if it is unknown or no longer reachable.
  synchronized @Nullable Communicator find(int number) {
    Entry entry = entries.get(number);
    return entry == null ? null : entry.communicator.get();
  }

  /// Throws `IllegalStateException` if the number is unknown or its communicator no longer
  /// reachable.
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
        factory == null || layer != null ? null : factory.reducer(communicator),
        layer,
        steps.computeIfAbsent(communicator, _ -> new Steps()));
  }

  /// Returns the number of entries whose communicators are still reachable.
  synchronized int size() {
    entries.values().removeIf(entry -> entry.communicator.refersTo(null));
    return entries.size();
  }
}
