// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tensorflow.Graph;

/// The graphs with ops on one communicator, numbered in the order in which they got their first
/// one. The number is part of their tensors' names, so that two graphs with equal node names do not
/// meet on other ranks. Every rank must come to the same order, which holds for one thread, and not
/// for several: there it is refused, for all ranks, as it would average different models. A graph
/// that is closed is in nobody's way. Thread-safe.
final class GraphNumbers {

  private final List<Numbered> graphs = new ArrayList<>();
  private int next;

  private record Numbered(WeakReference<Graph> graph, int number, long thread) {}

  /// What names of this graph's tensors begin with: nothing for the first graph. Throws
  /// `IllegalStateException`, and aborts the communicator, for a further graph of another thread.
  String prefix(Graph graph, Communicator communicator) {
    int known = find(graph);
    if (known < 0) {
      // Not under the lock: to ask a graph may wait for a thread that builds it and asks here.
      for (Numbered other : others()) {
        @Nullable Graph open = other.graph.get();
        if (open != null && isOpen(open)) {
          throw refused(communicator);
        }
      }
      known = add(graph);
    }
    return known == 0 ? "" : "graph-" + known + "/";
  }

  private synchronized int find(Graph graph) {
    for (Numbered numbered : graphs) {
      if (numbered.graph.refersTo(graph)) {
        return numbered.number;
      }
    }
    return -1;
  }

  private synchronized List<Numbered> others() {
    graphs.removeIf(numbered -> numbered.graph.refersTo(null));
    long self = Thread.currentThread().threadId();
    return graphs.stream().filter(numbered -> numbered.thread != self).toList();
  }

  private synchronized int add(Graph graph) {
    long self = Thread.currentThread().threadId();
    graphs.add(new Numbered(new WeakReference<>(graph), next, self));
    return next++;
  }

  private static boolean isOpen(Graph graph) {
    try {
      var unused = graph.operation("weft");
      return true;
    } catch (IllegalStateException closed) {
      return false;
    }
  }

  private static IllegalStateException refused(Communicator communicator) {
    String why =
        "two threads build graphs with Weft's ops on one communicator on rank "
            + communicator.rank()
            + ": other ranks cannot tell which graph a tensor belongs to, and would combine"
            + " different models; give each graph a communicator of its own,"
            + " weft.communicator().duplicate(name), by a name that is the same on all ranks, or"
            + " build all graphs in one thread, in the same order on all ranks";
    communicator.abort(new CommException.Aborted(why, null));
    return new IllegalStateException(why);
  }
}
