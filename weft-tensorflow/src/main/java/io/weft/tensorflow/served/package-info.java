// SPDX-License-Identifier: Apache-2.0
/// Weights of a graph that are dense tensors on parameter servers: ops that take pulled values and
/// push gradients while the rest of the step computes.
@NullMarked
package io.weft.tensorflow.served;

import org.jspecify.annotations.NullMarked;
