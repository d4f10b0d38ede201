// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.ConfigOption;
import io.weft.SecureMode;
import io.weft.WeftConfig;
import io.weft.comm.CommException;
import io.weft.transport.spi.Encryption;
import io.weft.transport.spi.Secret;
import io.weft.transport.tls.TlsParty;
import java.net.InetAddress;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;

/// By what the processes of a job know each other, and keep others from listening.
///
/// @param secret what only this job's processes know
/// @param encryption whether and how their connections are encrypted
/// @param job its identity, as `JobIdentity` makes it: not empty
public record JobTrust(Secret secret, Encryption encryption, String job) {

  /// As the settings say; reads the files that they name. Throws `CommException.Setup` naming a
  /// setting that is missing or a file that is not what it must be.
  public static JobTrust of(WeftConfig config, Secret secret, String job) {
    return new JobTrust(secret, encryption(config), job);
  }

  /// Whether and how the settings say that connections are encrypted; throws as `of` does.
  public static Encryption encryption(WeftConfig config) {
    boolean named =
        config.tlsCertificate().isPresent()
            || config.tlsKey().isPresent()
            || config.tlsCa().isPresent();
    if (config.secure() == SecureMode.OFF) {
      if (named) {
        throw new CommException.Setup(
            "secure is off, but tls-certificate, tls-key or tls-ca is set; leave them out, or set"
                + " secure to on",
            null);
      }
      return new Encryption.Off();
    }
    Encryption.Tls tls = named ? certified(config) : new Encryption.Ephemeral();
    return config.secure() == SecureMode.ON ? tls : new Encryption.BeyondLoopback(tls);
  }

  /// This process as a party of TLS on a connection with this address, if it is encrypted. Throws
  /// `CommException.Setup` where key and certificates do not make one.
  Optional<TlsParty> party(InetAddress address) {
    try {
      return encryption.at(address).map(TlsParty::of);
    } catch (IllegalArgumentException unusable) {
      throw new CommException.Setup(
          unusable.getMessage() + "; check tls-certificate, tls-key and tls-ca", unusable);
    }
  }

  private static Encryption.Tls certified(WeftConfig config) {
    Path certificate = required(config.tlsCertificate(), ConfigOption.TLS_CERTIFICATE);
    Path key = required(config.tlsKey(), ConfigOption.TLS_KEY);
    Path authorities = required(config.tlsCa(), ConfigOption.TLS_CA);
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
