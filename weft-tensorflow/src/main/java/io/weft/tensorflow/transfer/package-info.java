// SPDX-License-Identifier: Apache-2.0
/// The kernels of `WeftSend` and `WeftRecv`: how tensors get out of one part of a graph and into
/// another, over the rendezvous. TensorFlow's threads start them, the progress thread ends a
/// receive.
@NullMarked
package io.weft.tensorflow.transfer;

import org.jspecify.annotations.NullMarked;
