// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.fusion;

import io.weft.dataparallel.frame.Collective;
import io.weft.dataparallel.negotiation.ReadyTensor;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;

/// Which tensors share a buffer, and which buffer goes first. A function of the tensors and the
/// threshold, so that all ranks cut alike.
///
/// Higher priorities go first, else the order in which tensors became ready; the tensors of a group
/// stand together, by the highest of their priorities. A buffer has tensors of one type, operation
/// and scale, and at most the threshold; a tensor that is longer has a buffer to itself, and so has
/// one that shares none by the rule table, or is not for an allreduce. Tensors of different
/// priorities share a buffer only as long as it is short, since the higher one arrives with the
/// lower one.
public final class FusionPlan {

  /// Up to here the time of a buffer is that of its messages, not of its bytes.
  static final long MOST_MIXED_BYTES = 256 << 10;

  private FusionPlan() {}

  /// Tensors that travel together, in the order in which they lie in the buffer.
  ///
  /// @param tensors of one type, operation and scale; at least one
  /// @param bytes of all
  public record Batch(List<ReadyTensor> tensors, long bytes) {

    /// Copies the list.
    public Batch {
      tensors = List.copyOf(tensors);
    }

    /// Whether there is a buffer; else the tensor travels where it lies.
    public boolean isFused() {
      return tensors.size() > 1;
    }

    /// Any of them: type, operation and scale are those of all.
    public ReadyTensor first() {
      return tensors.getFirst();
    }
  }

  private record Key(DType dtype, ReduceOp op, double prescale, double postscale) {
    static Key of(ReadyTensor tensor) {
      var signature = tensor.signature();
      return new Key(
          signature.dtype(), signature.op(), signature.prescale(), signature.postscale());
    }
  }

  /// A buffer that is being filled.
  private static final class Filling {
    final List<ReadyTensor> tensors = new ArrayList<>();
    final int priority;
    long bytes;

    Filling(int priority) {
      this.priority = priority;
    }

    boolean takes(long more, int of, long threshold) {
      long sum = bytes + more;
      return sum <= threshold && (of == priority || sum <= MOST_MIXED_BYTES);
    }
  }

  /// Returns the batches, in the order in which they go. `threshold` in bytes.
  public static List<Batch> of(List<ReadyTensor> ready, long threshold) {
    return of(ready, threshold, bytes -> true);
  }

  /// Returns the batches, in the order in which they go. `threshold` in bytes.
  ///
  /// @param shares whether a tensor of this length shares a buffer
  public static List<Batch> of(List<ReadyTensor> ready, long threshold, LongPredicate shares) {
    Map<String, Integer> ofGroup = new HashMap<>();
    for (ReadyTensor tensor : ready) {
      if (tensor.signature().isGrouped()) {
        ofGroup.merge(tensor.signature().group(), tensor.signature().priority(), Math::max);
      }
    }
    List<ReadyTensor> sorted = new ArrayList<>(ready);
    sorted.sort(Comparator.comparing((ReadyTensor tensor) -> priority(tensor, ofGroup)).reversed());
    List<Filling> all = new ArrayList<>();
    Map<Key, Filling> open = new HashMap<>();
    for (ReadyTensor tensor : sorted) {
      int priority = priority(tensor, ofGroup);
      long bytes = tensor.signature().bytes();
      Key key = Key.of(tensor);
      Filling into = open.get(key);
      boolean fusible = isFusible(tensor) && shares.test(bytes);
      if (into == null || !fusible || !into.takes(bytes, priority, threshold)) {
        into = new Filling(priority);
        all.add(into);
        if (bytes < threshold && fusible) {
          open.put(key, into);
        }
      }
      into.tensors.add(tensor);
      into.bytes += bytes;
    }
    return all.stream().map(each -> new Batch(each.tensors, each.bytes)).toList();
  }

  private static boolean isFusible(ReadyTensor tensor) {
    return tensor.signature().collective() == Collective.ALLREDUCE;
  }

  private static int priority(ReadyTensor tensor, Map<String, Integer> ofGroup) {
    return tensor.signature().isGrouped()
        ? ofGroup.getOrDefault(tensor.signature().group(), 0)
        : tensor.signature().priority();
  }
}
