// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import io.weft.workloads.census.CensusCsvTarget;
import io.weft.workloads.checkpoint.CheckpointTarget;
import io.weft.workloads.collisions.HiggsCsvTarget;
import io.weft.workloads.data.IdxTarget;
import io.weft.workloads.data.LibsvmTarget;
import io.weft.workloads.data.LibsvmValuesTarget;
import java.util.List;

/// Checks all readers of a training's input files with fuzzed inputs.
class DataFuzzTest extends FuzzContract {

  DataFuzzTest() {
    super(
        List.of(
            IdxTarget.class,
            LibsvmTarget.class,
            LibsvmValuesTarget.class,
            HiggsCsvTarget.class,
            CensusCsvTarget.class,
            CheckpointTarget.class));
  }
}
