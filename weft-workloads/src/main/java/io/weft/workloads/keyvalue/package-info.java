// SPDX-License-Identifier: Apache-2.0
/// Training with the model in tables of a parameter server (`--via ps`): a worker's graph, its
/// steps and its results.
@NullMarked
package io.weft.workloads.keyvalue;

import org.jspecify.annotations.NullMarked;
