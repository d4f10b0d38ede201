// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.op.core.Variable;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;

/// A table of which a step looks at some rows. Whoever keeps the table on another task carries
/// these rows, and their gradients, and never the table.
///
/// @param variable of shape rows by width
/// @param ids which rows, one for each of the batch
/// @param rows of shape batch by width
public record SparseTable(
    Variable<TFloat32> variable, Operand<TInt32> ids, Output<TFloat32> rows) {}
