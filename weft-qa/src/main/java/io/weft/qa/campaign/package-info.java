// SPDX-License-Identifier: Apache-2.0
/// Simulated jobs with random work and random faults, and the checks on each: no rank hangs, no
/// result is wrong, and every failure names a rank that the faults harmed. Begin at `FaultRuns`.
@NullMarked
package io.weft.qa.campaign;

import org.jspecify.annotations.NullMarked;
