// SPDX-License-Identifier: Apache-2.0
/// The analysis of a job's flight logs: missing submissions, departed ranks, and the last operation
/// of each rank. Pure, except the reading of files; any thread.
@NullMarked
package io.weft.launch.flight;

import org.jspecify.annotations.NullMarked;
