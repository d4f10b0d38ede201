// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt64;

/// A lookup in a graph: what was asked for, and what came.
///
/// @param embedding of whose table
/// @param ids keys of the rows, of any shape
/// @param raw the output of the lookup's op, by which gradients are asked for
/// @param rows the same of shape `ids` by width, for the network
public record Lookup(
    WeftEmbedding embedding, Operand<TInt64> ids, Output<TFloat32> raw, Operand<TFloat32> rows) {}
