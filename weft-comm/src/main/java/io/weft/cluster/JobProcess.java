// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.cluster.watch.ProcessIdentity;
import java.util.Objects;

/// A process that is a rank: what tells it from every other one, and which host it runs on. Two
/// hosts of the same name differ in the boot, two containers of one kernel in the name.
///
/// @param identity a `ProcessIdentity`, or another text that no other process has: so two processes
///   with one rank are found out, and a silent one can be looked at from its host
/// @param host its host's name, for people
/// @param boot which boot the host's kernel runs since; empty where the system does not say
/// @param processors those that it may use
public record JobProcess(String identity, String host, String boot, Processors processors) {
  /// Throws `NullPointerException` where a part is missing.
  public JobProcess {
    Objects.requireNonNull(identity, "identity");
    Objects.requireNonNull(host, "host");
    Objects.requireNonNull(boot, "boot");
    Objects.requireNonNull(processors, "processors");
  }

  /// This process on this machine.
  public static JobProcess current() {
    HostIdentity host = HostIdentity.local();
    return new JobProcess(
        ProcessIdentity.local().toString(), host.name(), host.boot(), Processors.allowed());
  }
}
