// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.config.ConfigOption;
import io.weft.config.ConfigOption.Scope;
import io.weft.config.OptionProvider;
import io.weft.config.OptionType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// The settings by which a rank finds and joins its job. Stateless; any thread.
public final class JobConfig implements OptionProvider {

  /// The transport for the tensors: `auto` or a scheme. Opening the transport checks that it
  /// exists.
  public static final ConfigOption<String> TRANSPORT =
      ConfigOption.of(
          "transport",
          OptionType.of(String.class, "NAME", "auto or a scheme", JobConfig::scheme),
          "auto",
          "transport to use: auto, or the name of one on the class path: shm, tcp, inproc, verbs");

  /// Longest wait until all ranks have joined.
  public static final ConfigOption<Duration> START_DEADLINE =
      ConfigOption.of(
          "start-deadline",
          OptionType.duration(),
          "60s",
          "longest wait until all ranks have joined");

  /// Time at which ranks connect with each other.
  public static final ConfigOption<Connections> CONNECTIONS =
      ConfigOption.of(
              "connections",
              OptionType.choice(Connections.class),
              "all",
              "when two ranks connect: all, before the job begins, or used, when one of them"
                  + " first has a message for the other; it must be equal on all ranks")
          .sameOn(Scope.JOB);

  /// True if this process joins a running job.
  public static final ConfigOption<Boolean> JOIN =
      ConfigOption.of(
          "join",
          OptionType.flag(),
          "false",
          "join a running job as an additional rank, to replace a lost one");

  /// Address to listen on; empty = loopback if all ranks are local, otherwise this host's address
  /// towards the store.
  public static final ConfigOption<String> BIND =
      ConfigOption.withoutDefault(
          "bind",
          OptionType.text(),
          "address to listen on; by default loopback if all ranks are local, otherwise this"
              + " host's address towards the store");

  /// Address of the job's store, as `HOST:PORT`.
  public static final ConfigOption<String> STORE =
      ConfigOption.withoutDefault(
          "store",
          OptionType.of(String.class, "HOST:PORT", "HOST:PORT", HostAndPort::checked),
          "HOST:PORT of the store where ranks find each other");

  /// Name of the job.
  public static final ConfigOption<String> JOB =
      ConfigOption.withoutDefault(
          "job", OptionType.text(), "name of the job; it must be equal on all ranks");

  /// File with the job's secret.
  public static final ConfigOption<Path> SECRET_FILE =
      ConfigOption.withoutDefault(
          "secret-file",
          OptionType.path(),
          "file with the job's secret, which others than its owner and group cannot read");

  /// Encryption of the connections.
  public static final ConfigOption<SecureMode> SECURE =
      ConfigOption.of(
          "secure",
          OptionType.choice(SecureMode.class),
          "auto",
          "encrypt connections by TLS 1.3: on, off, or auto, which is on except on loopback; it"
              + " must be equal on all ranks");

  /// This rank's certificates; empty = this rank creates one.
  public static final ConfigOption<Path> TLS_CERTIFICATE =
      ConfigOption.withoutDefault(
          "tls-certificate",
          OptionType.path(),
          "PEM file with this rank's certificate and those between it and an authority; by default"
              + " each rank creates one");

  /// The private key of `TLS_CERTIFICATE`.
  public static final ConfigOption<Path> TLS_KEY =
      ConfigOption.withoutDefault(
          "tls-key",
          OptionType.path(),
          "PEM file with the private key of --tls-certificate (PKCS #8, not encrypted), readable"
              + " only by its owner");

  /// The authorities that sign the certificates of ranks.
  public static final ConfigOption<Path> TLS_CA =
      ConfigOption.withoutDefault(
          "tls-ca",
          OptionType.path(),
          "PEM file with the certificates of the authorities that sign the certificates of ranks");

  /// For `ServiceLoader`.
  public JobConfig() {}

  @Override
  public List<ConfigOption<?>> options() {
    return List.of(
        TRANSPORT,
        START_DEADLINE,
        CONNECTIONS,
        JOIN,
        BIND,
        STORE,
        JOB,
        SECRET_FILE,
        SECURE,
        TLS_CERTIFICATE,
        TLS_KEY,
        TLS_CA);
  }

  /// The variables that launchers set, those that may contain the secret, and those that the `weft`
  /// command passes to its parts.
  @Override
  public List<String> variables() {
    return List.of(
        "WEFT_RANK",
        "WEFT_SIZE",
        "WEFT_LOCAL_RANK",
        "WEFT_LOCAL_SIZE",
        "WEFT_CROSS_RANK",
        "WEFT_CROSS_SIZE",
        "WEFT_LAUNCHER",
        "WEFT_LAUNCHER_PID",
        "WEFT_SECRET",
        "WEFT_SECRET_HEX",
        "WEFT_CONFIG_FILE",
        "WEFT_CLASS_PATH",
        "WEFT_TERMINAL",
        "WEFT_LC_ALL",
        "WEFT_DEBUG");
  }

  private static String scheme(String text) {
    String scheme = text.strip();
    if (!scheme.matches("[a-z][a-z0-9-]*")) {
      throw new IllegalArgumentException(
          "must be auto or a transport's name in lower case, such as tcp");
    }
    return scheme;
  }
}
