// SPDX-License-Identifier: Apache-2.0
/// Which task of a cluster each node of a TensorFlow graph runs on: device functions, colocation,
/// and what the graph's own device names say. Works on `GraphDef`s. All of it is of values; one
/// thread at a time for each object.
@NullMarked
package io.weft.tensorflow.placement;

import org.jspecify.annotations.NullMarked;
