// SPDX-License-Identifier: Apache-2.0
/// The placement of a TensorFlow graph's nodes on the tasks of a cluster: device functions,
/// colocation, and device names in the graph. Works on `GraphDef`s without side effects; one thread
/// at a time for each object.
@NullMarked
package io.weft.tensorflow.placement;

import org.jspecify.annotations.NullMarked;
