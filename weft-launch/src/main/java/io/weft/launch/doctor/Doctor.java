// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// Checks everything that Weft uses. It takes a few seconds, mainly to load TensorFlow in a
/// separate process.
public final class Doctor {

  private Doctor() {}

  /// Returns all findings, by area. A missing item is a finding, not an exception.
  public static List<CheckResult> examine() {
    Stream<Supplier<List<CheckResult>>> checks =
        Stream.of(
            JavaChecks::look,
            MachineChecks::look,
            LimitChecks::look,
            RdmaChecks::look,
            TransportChecks::look,
            ProgramChecks::look,
            TensorFlowCheck::look);
    return checks.map(Supplier::get).flatMap(List::stream).toList();
  }
}
