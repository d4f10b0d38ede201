// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.cluster.JobConfig;
import io.weft.cluster.SecureMode;
import io.weft.comm.CommException;
import io.weft.config.ConfigOption;
import io.weft.config.Settings;
import io.weft.transport.spi.Encryption;
import io.weft.transport.spi.Secret;
import io.weft.transport.tls.TlsParty;
import java.net.InetAddress;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/// The means by which the processes of a job authenticate each other and encrypt their connections.
///
/// @param secret the secret that only this job's processes know
/// @param encryption the encryption of their connections
/// @param job the job's identity, from `JobIdentity`; not empty
public record JobTrust(Secret secret, Encryption encryption, String job) {
  /// Throws `NullPointerException` if a component is null.
  public JobTrust {
    Objects.requireNonNull(secret, "secret");
    Objects.requireNonNull(encryption, "encryption");
    Objects.requireNonNull(job, "job");
  }

  /// Reads the settings and the files that they name. Throws `CommException.Setup` naming a missing
  /// setting or an invalid file.
  public static JobTrust of(Settings settings, Secret secret, String job) {
    return new JobTrust(secret, encryption(settings), job);
  }

  /// Returns the encryption that the settings request. Throws as `of` does.
  public static Encryption encryption(Settings settings) {
    boolean named =
        settings.value(JobConfig.TLS_CERTIFICATE).isPresent()
            || settings.value(JobConfig.TLS_KEY).isPresent()
            || settings.value(JobConfig.TLS_CA).isPresent();
    if (settings.required(JobConfig.SECURE) == SecureMode.OFF) {
      if (named) {
        throw new CommException.Setup(
            "secure is off, but tls-certificate, tls-key or tls-ca is set; leave them out, or set"
                + " secure to on",
            null);
      }
      return new Encryption.Off();
    }
    Encryption.Tls tls = named ? certified(settings) : new Encryption.Ephemeral();
    return settings.required(JobConfig.SECURE) == SecureMode.ON
        ? tls
        : new Encryption.BeyondLoopback(tls);
  }

  /// Returns this process as a party of TLS on a connection with this address, or empty if the
  /// connection is not encrypted. Throws `CommException.Setup` if the key and the certificates do
  /// not form a valid party.
  Optional<TlsParty> party(InetAddress address) {
    try {
      return encryption.at(address).map(TlsParty::of);
    } catch (IllegalArgumentException unusable) {
      throw new CommException.Setup(
          unusable.getMessage() + "; check tls-certificate, tls-key and tls-ca", unusable);
    }
  }

  private static Encryption.Tls certified(Settings settings) {
    Path certificate =
        required(settings.value(JobConfig.TLS_CERTIFICATE), JobConfig.TLS_CERTIFICATE);
    Path key = required(settings.value(JobConfig.TLS_KEY), JobConfig.TLS_KEY);
    Path authorities = required(settings.value(JobConfig.TLS_CA), JobConfig.TLS_CA);
    List<X509Certificate> chain = PemFile.certificates(certificate);
    return new Encryption.Certified(
        chain,
        PemFile.privateKey(key, chain.getFirst().getPublicKey()),
        PemFile.certificates(authorities));
  }

  private static Path required(Optional<Path> file, ConfigOption<Path> option) {
    return file.orElseThrow(
        () ->
            new CommException.Setup(
                option
                    + " is not set; tls-certificate, tls-key and tls-ca belong together: set all"
                    + " three, or none so that each rank makes a certificate for itself",
                null));
  }
}
