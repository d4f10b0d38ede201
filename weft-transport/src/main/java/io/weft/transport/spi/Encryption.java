// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.spi;

import java.net.InetAddress;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;

/// Whether what leaves the process is encrypted, and who is believed. The job's secret is proved in
/// any case. Equal on all processes of a job, else they refuse each other. A transport that does
/// not leave the process ignores it.
public sealed interface Encryption {

  /// Bytes travel as they are: for networks on which nobody reads or changes packets.
  record Off() implements Encryption {}

  /// Encrypted unless the address is a loopback address, where only processes of this host hear.
  ///
  /// @param how elsewhere
  record BeyondLoopback(Tls how) implements Encryption {}

  /// TLS 1.3, both sides with certificates.
  sealed interface Tls extends Encryption {}

  /// Each process makes a key and a certificate of its own, which nobody else vouches for. The
  /// proof of the job's secret covers the connection's keys, so that nobody in the middle can end
  /// TLS on both sides.
  record Ephemeral() implements Tls {}

  /// Certificates from elsewhere, checked as far as one of `authorities`; then the same proof.
  ///
  /// @param chain this process's certificate and those between it and an authority
  /// @param key the private key of the first of `chain`
  /// @param authorities who may vouch for peers, at least one
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

    /// Without the key.
    @Override
    public String toString() {
      return "Certified[" + chain.getFirst().getSubjectX500Principal() + "]";
    }
  }

  /// How to encrypt on a connection with this address, if at all.
  default Optional<Tls> at(InetAddress address) {
    return switch (this) {
      case Off() -> Optional.empty();
      case BeyondLoopback(Tls how) ->
          address.isLoopbackAddress() ? Optional.empty() : Optional.of(how);
      case Tls always -> Optional.of(always);
    };
  }
}
