// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.cluster.watch.ProcessIdentity;
import java.util.Objects;

/// The process of a rank, with its unique identity and its host. Two hosts with the same name
/// differ in the boot; two containers of one kernel differ in the name.
///
/// @param identity a `ProcessIdentity`, or another text that no other process has. It reveals two
///   processes with one rank, and lets a process on the same host examine a silent one.
/// @param host the name of its host, for people
/// @param boot the identifier of the boot of the host's kernel; empty if the system does not
///   provide it
/// @param processors the processors that it may use
public record JobProcess(String identity, String host, String boot, Processors processors) {
  /// Throws `NullPointerException` if a component is null.
  public JobProcess {
    Objects.requireNonNull(identity, "identity");
    Objects.requireNonNull(host, "host");
    Objects.requireNonNull(boot, "boot");
    Objects.requireNonNull(processors, "processors");
  }

  /// Returns this process on this machine.
  public static JobProcess current() {
    HostIdentity host = HostIdentity.local();
    return new JobProcess(
        ProcessIdentity.local().toString(), host.name(), host.boot(), Processors.allowed());
  }
}
