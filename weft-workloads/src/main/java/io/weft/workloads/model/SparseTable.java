// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.op.core.Variable;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;

/// A table from which a step reads some rows. If the table is on another task, the step transfers
/// these rows and their gradients but never the whole table.
///
/// @param variable of shape rows by width
/// @param ids the row for each example of the batch
/// @param rows of shape batch by width
public record SparseTable(
    Variable<TFloat32> variable, Operand<TInt32> ids, Output<TFloat32> rows) {}
