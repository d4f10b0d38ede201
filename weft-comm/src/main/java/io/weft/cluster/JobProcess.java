// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import java.time.Instant;

/// A process that is a rank: what tells it from every other one, and which host it runs on. Two
/// hosts of the same name differ in the boot, two containers of one kernel in the name.
///
/// @param identity number and start, so that two processes with one rank are found out
/// @param host its host's name, for people
/// @param boot which boot the host's kernel runs since; empty where the system does not say
public record JobProcess(String identity, String host, String boot) {

  /// This process on this machine.
  public static JobProcess current() {
    ProcessHandle self = ProcessHandle.current();
    long start = self.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
    HostIdentity host = HostIdentity.local();
    return new JobProcess(self.pid() + "@" + start, host.name(), host.boot());
  }
}
