// SPDX-License-Identifier: Apache-2.0
/// Reading and pruning of `GraphDef`s: the nodes, their inputs and the functions that they call.
/// Pure.
@NullMarked
package io.weft.tensorflow.graph;

import org.jspecify.annotations.NullMarked;
