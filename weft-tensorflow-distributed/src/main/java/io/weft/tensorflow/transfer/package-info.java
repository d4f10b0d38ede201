// SPDX-License-Identifier: Apache-2.0
/// The kernels of `WeftSend` and `WeftRecv`, which transfer tensors between parts of a graph over
/// the rendezvous. TensorFlow's threads start them; the progress thread ends a receive.
@NullMarked
package io.weft.tensorflow.transfer;

import org.jspecify.annotations.NullMarked;
