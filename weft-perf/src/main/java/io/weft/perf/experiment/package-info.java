// SPDX-License-Identifier: Apache-2.0
/// What all experiments of `weft perf` share: an `Experiment` has cases and contestants. In each
/// round every contestant runs its program in new processes, whose first rank prints a
/// `RankReport`. The experiment summarizes the reports of all rounds as `Figure`s. The caller's
/// thread runs an experiment.
@NullMarked
package io.weft.perf.experiment;

import org.jspecify.annotations.NullMarked;
