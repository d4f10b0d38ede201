// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import io.weft.transport.FrameSink;
import io.weft.transport.Transport;
import io.weft.transport.TransportException;
import io.weft.transport.spi.Availability;
import io.weft.transport.spi.TransportConfig;
import io.weft.transport.spi.TransportProvider;
import java.util.Objects;

/// TCP with the faults in the environment: `--transport faulty-tcp`, and a plan in the system
/// property `weft.fault` or else the variable `WEFT_FAULT`. Stateless; any thread may use it.
public final class FaultyTcp implements TransportProvider {

  private static final String PROPERTY = "weft.fault";
  static final String VARIABLE = "WEFT_FAULT";

  /// Creates the provider for `ServiceLoader`.
  public FaultyTcp() {}

  @Override
  public String scheme() {
    return "faulty-tcp";
  }

  @Override
  public Availability probe() {
    return tcp().probe();
  }

  /// Opens a TCP transport with faults; also throws `DeviceLost` if the plan cannot be parsed.
  @Override
  public Transport open(TransportConfig config, FrameSink sink) {
    Objects.requireNonNull(sink, "sink");
    return new FaultyProvider(tcp(), new Faults(plan())).open(config, sink);
  }

  private static FaultPlan plan() {
    String text =
        Objects.requireNonNullElse(
            System.getProperty(PROPERTY), Objects.requireNonNullElse(System.getenv(VARIABLE), ""));
    String size = Objects.requireNonNullElse(System.getenv("WEFT_SIZE"), "");
    try {
      return FaultPlan.parse(text, size.matches("\\d{1,6}") ? Integer.parseInt(size) : 0);
    } catch (IllegalArgumentException wrong) {
      throw new TransportException.DeviceLost(VARIABLE + ": " + wrong.getMessage(), wrong);
    }
  }

  private static TransportProvider tcp() {
    return TransportProvider.find("tcp")
        .orElseThrow(() -> new IllegalStateException("no transport 'tcp' on the class path"));
  }
}
