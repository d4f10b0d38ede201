// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor;

/// An **owned** tensor. Passing a lease to a method passes ownership; the owner closes exactly
/// once.
public interface TensorLease extends AutoCloseable {

  /// The tensor, valid until `close`.
  TensorView view();

  /// Gives the memory back. A second call has no effect.
  @Override
  void close();
}
