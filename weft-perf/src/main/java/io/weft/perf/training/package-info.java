// SPDX-License-Identifier: Apache-2.0
/// The measurements of whole trainings: several ranks compared with one rank that computes an equal
/// batch. A contestant is a number of ranks, and its program is `weft train`.
@NullMarked
package io.weft.perf.training;

import org.jspecify.annotations.NullMarked;
