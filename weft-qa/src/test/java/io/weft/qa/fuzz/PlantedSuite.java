// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import io.weft.planted.PlantedTarget;
import java.util.List;

/// The suite of the target with a planted fault, which is not a test.
final class PlantedSuite extends FuzzContract {

  PlantedSuite() {
    super(List.of(PlantedTarget.class));
  }
}
