// SPDX-License-Identifier: Apache-2.0
/// Training on any number of ranks: the plan of batches, the loop, its measurement, checkpoints.
/// Runs on the thread that calls; collectives complete on their own.
@NullMarked
package io.weft.workloads.training;

import org.jspecify.annotations.NullMarked;
