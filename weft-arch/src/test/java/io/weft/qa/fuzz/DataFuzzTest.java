// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import io.weft.workloads.census.CensusCsvTarget;
import io.weft.workloads.checkpoint.CheckpointTarget;
import io.weft.workloads.data.IdxTarget;
import io.weft.workloads.data.LibsvmTarget;
import java.util.List;

/// Checks all readers of a training's input files with fuzzed inputs.
class DataFuzzTest extends FuzzContract {

  DataFuzzTest() {
    super(
        List.of(
            IdxTarget.class, LibsvmTarget.class, CensusCsvTarget.class, CheckpointTarget.class));
  }
}
