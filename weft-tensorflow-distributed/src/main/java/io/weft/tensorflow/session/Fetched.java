// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import java.util.List;
import org.tensorflow.Tensor;

/// The fetched tensors of a step, in the order of its fetches. Owned: `close` frees them. As in
/// TensorFlow, a fetched reference variable of the client's task is the variable's own memory, so
/// the caller must copy it before the next step.
public final class Fetched implements AutoCloseable {

  private final List<Tensor> tensors;
  private final List<? extends AutoCloseable> owned;

  /// Takes ownership of the tensors.
  ///
  /// @param owned frees the tensors; each is closed once
  public Fetched(List<Tensor> tensors, List<? extends AutoCloseable> owned) {
    this.tensors = List.copyOf(tensors);
    this.owned = List.copyOf(owned);
  }

  /// Returns the number of tensors.
  public int size() {
    return tensors.size();
  }

  /// Returns the tensor of fetch `index`, borrowed.
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
