// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import io.weft.WeftConfig;
import io.weft.cluster.JobConfig;
import io.weft.cluster.SecureMode;
import io.weft.launch.cli.SecureAlone;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine.Option;

/// What carries the bytes of a measurement, and whether they are encrypted: a mixin of picocli.
public final class CarrierOptions {

  private static final List<String> TRANSPORTS = List.of("tcp", "shm", "verbs");

  @Option(
      names = "--transport",
      paramLabel = "T",
      defaultValue = "tcp",
      description = "what carries the bytes: tcp, shm or verbs (default: ${DEFAULT-VALUE})")
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

  /// Made by the command.
  public CarrierOptions() {}

  /// The transport's name. Throws `IllegalArgumentException` naming the option and what is allowed.
  public String transport() {
    return known(transport);
  }

  /// Names between commas, each once, for measurements that go through several. Throws the same.
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

  /// Throws `IllegalArgumentException` naming the option and what is allowed.
  public SecureMode secure() {
    return WeftConfig.parse(JobConfig.SECURE, secure, "--secure");
  }
}
