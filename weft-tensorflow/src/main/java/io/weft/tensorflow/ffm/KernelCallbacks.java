// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

/// What TensorFlow calls on the kernels of one op type. Called on TensorFlow's threads, several at
/// once.
public interface KernelCallbacks {

  /// A node's kernel is needed. `construction` is a `TF_OpKernelConstruction*`, valid during the
  /// call. Returns the kernel's number, never 0; 0 after it reported a failure.
  long create(long construction);

  /// The kernel is to run once. `context` is a `TF_OpKernelContext*`, valid until `done` has run;
  /// `done` is a `TF_AsyncOpKernelDoneCallback*`, valid **during the call only**: see
  /// `DoneCallback`.
  void compute(long kernel, long context, long done);

  /// The kernel will not be used again; 0 if it was never made.
  void delete(long kernel);
}
