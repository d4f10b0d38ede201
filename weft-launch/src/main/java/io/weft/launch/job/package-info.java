// SPDX-License-Identifier: Apache-2.0
/// Ranks as processes: where they are placed, how they start here and by ssh, their output, and
/// their end. The thread that starts a job must outlive it; two threads copy each rank's output.
@NullMarked
package io.weft.launch.job;

import org.jspecify.annotations.NullMarked;
