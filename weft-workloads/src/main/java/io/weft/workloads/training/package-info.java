// SPDX-License-Identifier: Apache-2.0
/// Training on any number of ranks: the plan of batches, the loop, its measurement, checkpoints. It
/// runs on the calling thread; collectives complete on other threads.
@NullMarked
package io.weft.workloads.training;

import org.jspecify.annotations.NullMarked;
