// SPDX-License-Identifier: Apache-2.0
/// Trains with parameter servers: variables live on server tasks, each worker computes gradients of
/// its share of the data, over Weft's Send/Recv or TensorFlow's own runtime. Each task is a rank.
/// Runs on the thread that calls it, and one more for the updates of synchronous training.
@NullMarked
package io.weft.workloads.parameterserver;

import org.jspecify.annotations.NullMarked;
