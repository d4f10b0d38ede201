// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import java.util.List;
import org.tensorflow.Tensor;

/// What a step has fetched, in the order of its fetches. Owned: `close` frees the tensors. A
/// fetched reference variable is the variable's own memory if it is of the client's task, as it is
/// in TensorFlow: copy it before the next step.
public final class Fetched implements AutoCloseable {

  private final List<Tensor> tensors;
  private final List<? extends AutoCloseable> owned;

  /// Takes the tensors.
  ///
  /// @param owned what frees them, each once
  public Fetched(List<Tensor> tensors, List<? extends AutoCloseable> owned) {
    this.tensors = List.copyOf(tensors);
    this.owned = List.copyOf(owned);
  }

  /// How many.
  public int size() {
    return tensors.size();
  }

  /// The tensor of fetch `index`, borrowed.
  public Tensor get(int index) {
    return tensors.get(index);
  }

  @Override
  public void close() {
    for (AutoCloseable one : owned) {
      try {
        one.close();
      } catch (Exception e) {
        throw new IllegalStateException("a fetched tensor was not freed", e);
      }
    }
  }
}
