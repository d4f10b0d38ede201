// SPDX-License-Identifier: Apache-2.0
/// Sparse gradients: some rows of a large table, like TensorFlow's IndexedSlices.
@NullMarked
package io.weft.dataparallel.sparse;

import org.jspecify.annotations.NullMarked;
