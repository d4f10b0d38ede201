// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import java.util.Objects;

/// Which element of which tensor an error is about.
///
/// @param tensor in words, with its name
/// @param index in that tensor
public record Element(String tensor, long index) {
  /// Throws `NullPointerException` where a part is missing.
  public Element {
    Objects.requireNonNull(tensor, "tensor");
  }

  /// Tells where the elements come from of what is reduced.
  @FunctionalInterface
  public interface Source {

    /// Each tensor is a gradient by itself.
    Source GRADIENT = (name, index) -> new Element("gradient '" + name + "'", index);

    /// Where this element comes from.
    ///
    /// @param name by which the tensor is reduced
    Element of(String name, long index);
  }
}
