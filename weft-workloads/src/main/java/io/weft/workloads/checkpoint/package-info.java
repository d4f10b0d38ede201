// SPDX-License-Identifier: Apache-2.0
/// Runs on disk: what a training has reached after an epoch, from which it can go on. On the thread
/// that calls.
@NullMarked
package io.weft.workloads.checkpoint;

import org.jspecify.annotations.NullMarked;
