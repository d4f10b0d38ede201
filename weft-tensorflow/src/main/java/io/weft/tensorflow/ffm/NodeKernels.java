// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

import java.util.Objects;

/// The kernel callbacks of one op type whose kernels are objects, called by TensorFlow.
///
/// @param kernels the table of kernels, which op types may share
/// @param maker creates the kernel of a node
/// @param remedy the end of the message of a failed creation; may be empty
public record NodeKernels<K extends NodeKernels.NodeKernel>(
    HandleTable<K> kernels, Maker<K> maker, String remedy) implements KernelCallbacks {

  /// Checks that nothing is null.
  public NodeKernels {
    Objects.requireNonNull(kernels);
    Objects.requireNonNull(maker);
    Objects.requireNonNull(remedy);
  }

  /// The kernel of one node in one session.
  public interface NodeKernel {

    /// Starts one run. `done` is valid only during this call.
    ///
    /// Hot path.
    void start(long context, long done);

    /// Releases a kernel that TensorFlow has deleted.
    void close();
  }

  /// A factory of a node's kernel.
  @FunctionalInterface
  public interface Maker<K> {

    /// Creates a kernel. Throws a `RuntimeException` for invalid attributes.
    K make(KernelConstruction node);
  }

  @Override
  public long create(long construction) {
    try (Status status = new Status()) {
      KernelConstruction node = new KernelConstruction(construction, status);
      try {
        return kernels.add(maker.make(node));
      } catch (RuntimeException e) {
        node.fail(StatusCode.FAILED_PRECONDITION, e.getMessage() + remedy);
        return 0;
      }
    }
  }

  /// Hot path.
  @Override
  public void compute(long kernel, long context, long done) {
    kernels.get(kernel).start(context, done);
  }

  @Override
  public void delete(long kernel) {
    if (kernel != 0) {
      kernels.remove(kernel).close();
    }
  }
}
