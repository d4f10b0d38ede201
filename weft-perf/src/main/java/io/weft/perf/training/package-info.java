// SPDX-License-Identifier: Apache-2.0
/// The measurements of whole trainings: several ranks compared with one rank that computes an equal
/// batch. `TrainingCommand` is the command line, `TrainingTurn` one run of `weft train`, and
/// `TrainingFigure` the summary of all rounds.
@NullMarked
package io.weft.perf.training;

import org.jspecify.annotations.NullMarked;
