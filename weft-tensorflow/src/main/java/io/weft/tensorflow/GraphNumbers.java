// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tensorflow.Graph;

/// The graphs with ops on one communicator, numbered in the order of their first ops. The number is
/// part of their tensor names, so tensors of two graphs with equal node names are not matched on
/// other ranks. Every rank must number the graphs in the same order, which one thread guarantees
/// and several threads do not. A graph of a second thread is therefore refused on all ranks,
/// because ranks would average different models. Closed graphs do not count. Thread-safe.
final class GraphNumbers {

  private final List<Numbered> graphs = new ArrayList<>();
  private int next;

  private record Numbered(WeakReference<Graph> graph, int number, long thread) {}

  /// Returns the prefix of this graph's tensor names, which is empty for the first graph. Throws
  /// `IllegalStateException` and aborts the communicator if another thread has an open graph on it.
  String prefix(Graph graph, Communicator communicator) {
    int known = find(graph);
    if (known < 0) {
      // Not under the lock, because a graph's query may wait for a thread that builds it and calls
      // this.
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
            + " different models; give each graph its own communicator,"
            + " weft.communicator().duplicate(name), by a name that is the same on all ranks, or"
            + " build all graphs in one thread, in the same order on all ranks";
    communicator.abort(new CommException.Aborted(why, null));
    return new IllegalStateException(why);
  }
}
