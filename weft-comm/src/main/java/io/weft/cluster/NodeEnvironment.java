// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.agent.AgentRunners;
import io.weft.transport.spi.Secret;
import io.weft.transport.spi.TransportProvider;
import java.util.Objects;

/// The surroundings of a rank that joins a job: the real machine, or a simulated one.
///
/// @param store the store in which the ranks meet; borrowed until the rank has left
/// @param secret the job's secret
/// @param job the job's name
/// @param bind the listening address of the transport
/// @param transport opens the rank's transport
/// @param runners the source of clock and runners
/// @param process the identity and the host of this rank
public record NodeEnvironment(
    Store store,
    Secret secret,
    String job,
    String bind,
    TransportProvider transport,
    AgentRunners runners,
    JobProcess process) {
  /// Throws `NullPointerException` if a component is null.
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
