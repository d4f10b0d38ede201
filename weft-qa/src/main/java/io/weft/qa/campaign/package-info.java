// SPDX-License-Identifier: Apache-2.0
/// Many simulated jobs with random work and random faults, and the verdict on each: nobody hangs,
/// no result is wrong, and every failure names a rank that the faults harmed. Begin at `FaultRuns`.
@NullMarked
package io.weft.qa.campaign;

import org.jspecify.annotations.NullMarked;
