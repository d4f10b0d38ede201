// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

/// The callbacks for the kernels of one op type. TensorFlow calls them on several of its threads
/// concurrently.
public interface KernelCallbacks {

  /// Creates a node's kernel. `construction` is a `TF_OpKernelConstruction*`, valid during the
  /// call. Returns the kernel's number, which is never 0, or 0 after it reported a failure.
  long create(long construction);

  /// Runs the kernel once. `context` is a `TF_OpKernelContext*`, valid until `done` has run. `done`
  /// is a `TF_AsyncOpKernelDoneCallback*`, valid **during the call only** (see `DoneCallback`).
  void compute(long kernel, long context, long done);

  /// Deletes the kernel, which is not used again; 0 if it was never created.
  void delete(long kernel);
}
