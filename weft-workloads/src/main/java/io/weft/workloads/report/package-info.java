// SPDX-License-Identifier: Apache-2.0
/// The output of a run for people and programs: progress, summary, JSON, plot. The training thread
/// calls all of it; `weft perf` draws with `Picture` too.
@NullMarked
package io.weft.workloads.report;

import org.jspecify.annotations.NullMarked;
