// SPDX-License-Identifier: Apache-2.0
/// Partitions of a TensorFlow graph into one graph per task. An edge between tasks becomes a
/// `WeftSend` and a `WeftRecv`; receives that may share a request are grouped. Pure functions of
/// `GraphDef`s, except for shapes, which TensorFlow infers. ADR 0041 gives the rules and their
/// reasons.
@NullMarked
package io.weft.tensorflow.partition;

import org.jspecify.annotations.NullMarked;
