// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// Looks at everything that Weft uses. Takes a few seconds, most of them to load TensorFlow in a
/// process of its own.
public final class Doctor {

  private Doctor() {}

  /// All findings, by area. Never throws for what is not there: that is a finding.
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
