// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.agent.AgentRunners;
import io.weft.transport.spi.Secret;
import io.weft.transport.spi.TransportProvider;
import java.util.Objects;

/// What a rank finds around it when it joins a job: the real machine, or a simulated one.
///
/// @param store where the ranks meet; borrowed until the rank has left
/// @param secret of the job
/// @param job its name
/// @param bind where the transport listens
/// @param transport opens the rank's transport
/// @param runners clock and turns
/// @param process who this rank is, and on which host
public record NodeEnvironment(
    Store store,
    Secret secret,
    String job,
    String bind,
    TransportProvider transport,
    AgentRunners runners,
    JobProcess process) {
  /// Throws `NullPointerException` where a part is missing.
  public NodeEnvironment {
    Objects.requireNonNull(store, "store");
    Objects.requireNonNull(secret, "secret");
    Objects.requireNonNull(job, "job");
    Objects.requireNonNull(bind, "bind");
    Objects.requireNonNull(transport, "transport");
    Objects.requireNonNull(runners, "runners");
    Objects.requireNonNull(process, "process");
  }
}
