// SPDX-License-Identifier: Apache-2.0
/// Ranks as processes: their placement, their start on this host and by ssh, their output, and
/// their end. The thread that starts a job must outlive it; two threads copy each rank's output.
@NullMarked
package io.weft.launch.job;

import org.jspecify.annotations.NullMarked;
