// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt64;

/// A lookup in a graph: its ids and rows.
///
/// @param embedding the embedding whose table is read
/// @param ids keys of the rows, of any shape
/// @param raw the output of the lookup's op, with respect to which gradients are computed
/// @param rows the looked-up rows for the network, of shape `ids` by width
public record Lookup(
    WeftEmbedding embedding, Operand<TInt64> ids, Output<TFloat32> raw, Operand<TFloat32> rows) {}
