// SPDX-License-Identifier: Apache-2.0
/// Measures a step whose tensors come from another task: variables of one process that another one
/// consumes, under Weft or under TensorFlow's own runtime. Runs on the main thread of its process.
@NullMarked
package io.weft.workloads.sendrecv;

import org.jspecify.annotations.NullMarked;
