// SPDX-License-Identifier: Apache-2.0
/// Training with parameter servers. Variables are on server tasks; each worker computes gradients
/// of its share of the data. Weft's Send/Recv or TensorFlow's own runtime carries the tensors. Each
/// task is a rank. It runs on the calling thread, and on another for synchronous updates.
@NullMarked
package io.weft.workloads.parameterserver;

import org.jspecify.annotations.NullMarked;
