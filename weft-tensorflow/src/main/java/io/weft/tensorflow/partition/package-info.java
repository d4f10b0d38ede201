// SPDX-License-Identifier: Apache-2.0
/// A TensorFlow graph cut into one graph per task. An edge between tasks becomes a `WeftSend` and a
/// `WeftRecv`; receives that can travel in one request are grouped. Pure functions of `GraphDef`s,
/// but for shapes, which TensorFlow infers. ADR 0041 gives the rules and their reasons.
@NullMarked
package io.weft.tensorflow.partition;

import org.jspecify.annotations.NullMarked;
