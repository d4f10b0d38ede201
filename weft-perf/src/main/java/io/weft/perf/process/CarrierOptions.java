// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import io.weft.WeftConfig;
import io.weft.cluster.JobConfig;
import io.weft.cluster.SecureMode;
import io.weft.launch.cli.SecureAlone;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine.Option;

/// The transport of a measurement and its encryption. A mixin for picocli.
public final class CarrierOptions {

  private static final List<String> TRANSPORTS = List.of("tcp", "shm", "verbs");

  @Option(
      names = "--transport",
      paramLabel = "T",
      defaultValue = "tcp",
      description = "transport of the bytes: tcp, shm or verbs (default: ${DEFAULT-VALUE})")
  private String transport = "tcp";

  @Option(
      names = "--secure",
      paramLabel = "MODE",
      arity = "0..1",
      preprocessor = SecureAlone.class,
      defaultValue = "auto",
      description =
          "encrypt Weft's connections: on, off, or auto, which is off between ranks of this host"
              + " (default: ${DEFAULT-VALUE})")
  private String secure = "auto";

  /// For picocli.
  public CarrierOptions() {}

  /// Returns the transport's name. Throws `IllegalArgumentException` with the option and the
  /// allowed values.
  public String transport() {
    return known(transport);
  }

  /// Returns the distinct transports of a comma-separated list, for measurements over several
  /// transports. Throws `IllegalArgumentException` with the option and the allowed values.
  public List<String> transports() {
    return Arrays.stream(transport.split(",", -1)).map(CarrierOptions::known).distinct().toList();
  }

  private static String known(String name) {
    if (!TRANSPORTS.contains(name)) {
      throw new IllegalArgumentException(
          "--transport: unknown transport '%s'; allowed: %s"
              .formatted(name, String.join(", ", TRANSPORTS)));
    }
    return name;
  }

  /// Returns the mode of encryption. Throws `IllegalArgumentException` with the option and the
  /// allowed values.
  public SecureMode secure() {
    return WeftConfig.parse(JobConfig.SECURE, secure, "--secure");
  }
}
