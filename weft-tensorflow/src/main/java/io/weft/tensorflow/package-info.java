// SPDX-License-Identifier: Apache-2.0
/// TensorFlow Java on Weft: collectives as ops inside the graph, and the distributed optimizer.
/// Graphs are built on the user's thread. Kernels start on TensorFlow's threads and complete on the
/// progress thread of the communicator, or of the `DataParallel` that averages gradients.
@NullMarked
package io.weft.tensorflow;

import org.jspecify.annotations.NullMarked;
