// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.checkpoint;

import io.weft.tensor.TensorView;

/// A variable in a checkpoint.
///
/// @param name of the variable in the graph
/// @param copy of its value; borrowed
public record SavedTensor(String name, TensorView copy) {}
