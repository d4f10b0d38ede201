// SPDX-License-Identifier: Apache-2.0
/// What people and programs see of a run: progress, summary, JSON, picture. The thread that trains
/// calls all of it.
@NullMarked
package io.weft.workloads.report;

import org.jspecify.annotations.NullMarked;
