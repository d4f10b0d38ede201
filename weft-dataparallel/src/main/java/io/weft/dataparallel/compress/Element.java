// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import java.util.Objects;

/// The element of a tensor in an error.
///
/// @param tensor the tensor in words, with its name
/// @param index index in that tensor
public record Element(String tensor, long index) {
  /// Throws `NullPointerException` if the tensor is null.
  public Element {
    Objects.requireNonNull(tensor, "tensor");
  }

  /// The mapping of a reduced tensor's elements to their original tensors.
  @FunctionalInterface
  public interface Source {

    /// The mapping of tensors that are whole gradients.
    Source GRADIENT = (name, index) -> new Element("gradient '" + name + "'", index);

    /// Returns the original element.
    ///
    /// @param name name by which the tensor is reduced
    Element of(String name, long index);
  }
}
