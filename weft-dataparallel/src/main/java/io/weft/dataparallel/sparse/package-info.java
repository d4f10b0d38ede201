// SPDX-License-Identifier: Apache-2.0
/// Sparse gradients: some rows of a large table, like TensorFlow's IndexedSlices.
///
/// ```java
/// var ids = new TensorView(DType.INT64, Shape.of(2), Arena.ofAuto().allocate(16, 8));
/// var rows = new TensorView(DType.FLOAT32, Shape.of(2, 8), Arena.ofAuto().allocate(64, 8));
/// var reducer = new SparseReducer(weft.communicator(), 0.5);
/// try (ReducedSlices all =
///     reducer.reduce("embedding", new SparseGradient(ids, rows), 1_000, ReduceOp.SUM).await()) {
///   switch (all) {
///     case ReducedSlices.Sparse(TensorLease keys, TensorLease sums) -> sums.view();
///     case ReducedSlices.Dense(TensorLease table) -> table.view();
///   }
/// }
/// ```
@NullMarked
package io.weft.dataparallel.sparse;

import org.jspecify.annotations.NullMarked;
