// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import org.tensorflow.Operand;
import org.tensorflow.types.TInt64;
import org.tensorflow.types.family.TType;

/// TensorFlow's IndexedSlices in a graph: some rows of a tensor whose other rows are zero. A row
/// that occurs several times counts as the sum of its occurrences.
///
/// @param values the rows, concatenated
/// @param indices one-dimensional: the position of each row in the whole tensor
public record IndexedSlices<T extends TType>(Operand<T> values, Operand<TInt64> indices) {}
