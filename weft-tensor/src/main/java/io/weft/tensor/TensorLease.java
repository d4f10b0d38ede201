// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor;

/// An **owned** tensor. Passing a lease to a method passes ownership. The owner must close the
/// lease.
public interface TensorLease extends AutoCloseable {

  /// Returns the tensor, which is valid until `close`.
  TensorView view();

  /// Releases the memory. A second call has no effect.
  @Override
  void close();
}
