// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import org.tensorflow.Operand;
import org.tensorflow.types.TInt64;
import org.tensorflow.types.family.TType;

/// Some rows of a tensor whose other rows are zero, in a graph: TensorFlow's IndexedSlices. A row
/// that stands there several times counts as their sum.
///
/// @param values the rows, one after the other
/// @param indices of the rows in the whole tensor; one dimension
public record IndexedSlices<T extends TType>(Operand<T> values, Operand<TInt64> indices) {}
