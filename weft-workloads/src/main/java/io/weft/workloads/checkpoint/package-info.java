// SPDX-License-Identifier: Apache-2.0
/// Checkpoints: the state of a training on disk after an epoch, from which it can continue. They
/// run on the calling thread.
@NullMarked
package io.weft.workloads.checkpoint;

import org.jspecify.annotations.NullMarked;
