// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.spi;

import java.net.InetAddress;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;

/// The encryption of traffic between processes, and the trusted certificates. Peers prove the job's
/// secret in any case. All processes of a job must use the same value, or they refuse each other. A
/// transport within one process ignores it.
public sealed interface Encryption {

  /// Traffic is not encrypted, for networks on which packets cannot be read or changed.
  record Off() implements Encryption {}

  /// Traffic is encrypted except on loopback addresses, which only processes of this host can
  /// reach.
  ///
  /// @param how the encryption on other addresses
  record BeyondLoopback(Tls how) implements Encryption {}

  /// TLS 1.3 with certificates on both sides.
  sealed interface Tls extends Encryption {}

  /// Each process creates a key and a certificate that no authority has signed. The proof of the
  /// job's secret covers the connection's keys, so that an intermediary cannot terminate TLS on
  /// both sides.
  record Ephemeral() implements Tls {}

  /// External certificates, verified up to one of `authorities`, in addition to the same proof.
  ///
  /// @param chain this process's certificate and the intermediate certificates of its authority
  /// @param key the private key of the first of `chain`
  /// @param authorities the trusted issuers of peers' certificates, at least one
  record Certified(List<X509Certificate> chain, PrivateKey key, List<X509Certificate> authorities)
      implements Tls {
    /// Copies the lists. Throws `IllegalArgumentException` if one is empty.
    public Certified {
      chain = List.copyOf(chain);
      authorities = List.copyOf(authorities);
      if (chain.isEmpty() || authorities.isEmpty()) {
        throw new IllegalArgumentException("a certificate and an authority are needed");
      }
    }

    /// Omits the key.
    @Override
    public String toString() {
      return "Certified[" + chain.getFirst().getSubjectX500Principal() + "]";
    }
  }

  /// Returns the encryption for a connection with this address, if any.
  default Optional<Tls> at(InetAddress address) {
    return switch (this) {
      case Off() -> Optional.empty();
      case BeyondLoopback(Tls how) ->
          address.isLoopbackAddress() ? Optional.empty() : Optional.of(how);
      case Tls always -> Optional.of(always);
    };
  }
}
