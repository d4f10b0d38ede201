// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.fusion;

import io.weft.dataparallel.frame.Collective;
import io.weft.dataparallel.frame.TensorSignature;
import io.weft.dataparallel.negotiation.ReadyTensor;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;

/// The plan that assigns ready tensors to buffers and orders the buffers. It is a pure function of
/// the tensors and the threshold, so that all ranks compute the same plan.
///
/// Tensors are ordered by priority, highest first, and then by the order in which they became
/// ready. The tensors of a group have the highest priority of the group. A buffer contains tensors
/// of one type, operation and scale, and is at most as long as the threshold. A tensor has a
/// separate buffer if it is longer, if the rule table excludes it from fusion, or if it is not
/// reduced by an allreduce. Tensors of different priorities share a buffer if the rule table allows
/// it, because the result of the higher priority is delivered with that of the lower one.
public final class FusionPlan {

  private FusionPlan() {}

  /// The rules of the table for buffers.
  ///
  /// @param shares returns true if a tensor of this length may be fused
  /// @param mixes returns true if a buffer of this length may have tensors of different priorities
  public record Rules(LongPredicate shares, LongPredicate mixes) {}

  /// Tensors that are reduced together, in the order of their places in the buffer.
  ///
  /// @param tensors tensors of one type, operation and scale; at least one
  /// @param bytes length of all tensors together
  public record Batch(List<ReadyTensor> tensors, long bytes) {

    /// Copies the list.
    public Batch {
      tensors = List.copyOf(tensors);
    }

    /// Returns true if the tensors are copied into a buffer. A single tensor is reduced in its own
    /// memory.
    public boolean isFused() {
      return tensors.size() > 1;
    }

    /// Returns the first tensor, whose type, operation and scale are those of all.
    public ReadyTensor first() {
      return tensors.getFirst();
    }
  }

  private record Key(DType dtype, ReduceOp op, TensorSignature.Scaling scaling) {
    static Key of(ReadyTensor tensor) {
      var signature = tensor.signature();
      return new Key(signature.dtype(), signature.op(), signature.scaling());
    }
  }

  private static final class Filling {
    final List<ReadyTensor> tensors = new ArrayList<>();
    final int priority;
    long bytes;

    Filling(int priority) {
      this.priority = priority;
    }

    boolean takes(long more, int of, long threshold, LongPredicate mixes) {
      long sum = bytes + more;
      return sum <= threshold && (of == priority || mixes.test(sum));
    }
  }

  /// Returns the batches in the order of their reductions. `threshold` is in bytes.
  public static List<Batch> of(List<ReadyTensor> ready, long threshold, Rules rules) {
    Map<String, Integer> ofGroup = new HashMap<>();
    for (ReadyTensor tensor : ready) {
      if (tensor.signature().isGrouped()) {
        ofGroup.merge(tensor.signature().group().name(), tensor.signature().priority(), Math::max);
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
      boolean fusible = isFusible(tensor) && rules.shares().test(bytes);
      if (into == null || !fusible || !into.takes(bytes, priority, threshold, rules.mixes())) {
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
        ? ofGroup.getOrDefault(tensor.signature().group().name(), 0)
        : tensor.signature().priority();
  }
}
