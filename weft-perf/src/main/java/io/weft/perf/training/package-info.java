// SPDX-License-Identifier: Apache-2.0
/// Measurements of whole trainings: several ranks beside one rank that computes the same batch.
/// `TrainingCommand` is the command line, `TrainingTurn` one run of `weft train`, `TrainingFigure`
/// what the report has of all rounds.
@NullMarked
package io.weft.perf.training;

import org.jspecify.annotations.NullMarked;
