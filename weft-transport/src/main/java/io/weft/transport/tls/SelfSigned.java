// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tls;

import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;

/// A new key on the curve P-256 and its self-signed X.509 v3 certificate [RFC5280 §4.1]. The
/// certificate contains no identity; the proof of the job's secret authenticates its owner. It is
/// valid at all times, so that trust does not depend on clocks.
///
/// @param key is never stored and lives as long as the process
/// @param certificate required by TLS
record SelfSigned(PrivateKey key, X509Certificate certificate) {

  private static final int SERIAL_BITS = 127;

  static SelfSigned fresh() {
    try {
      SecureRandom random = new SecureRandom();
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"), random);
      KeyPair pair = generator.generateKeyPair();
      byte[] body = body(new BigInteger(SERIAL_BITS, random), pair.getPublic().getEncoded());
      Signature signature = Signature.getInstance("SHA256withECDSA");
      signature.initSign(pair.getPrivate(), random);
      signature.update(body);
      byte[] whole = Der.sequence(body, algorithm(), Der.bits(0, signature.sign()));
      X509Certificate certificate =
          (X509Certificate)
              CertificateFactory.getInstance("X.509")
                  .generateCertificate(new ByteArrayInputStream(whole));
      return new SelfSigned(pair.getPrivate(), certificate);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK has no ECDSA with SHA-256 on P-256", e);
    }
  }

  private static byte[] body(BigInteger serial, byte[] publicKey) {
    byte[] name = name();
    return Der.sequence(
        Der.explicit(0, Der.integer(BigInteger.TWO)), // version 3
        Der.integer(serial.setBit(0)), // positive
        algorithm(),
        name,
        Der.sequence(Der.shortTime("000101000000Z"), Der.longTime("99991231235959Z")),
        name,
        publicKey, // encoded as a certificate requires
        Der.explicit(3, Der.sequence(signsOnly())));
  }

  /// Returns the identifier of ecdsa-with-SHA256.
  private static byte[] algorithm() {
    return Der.sequence(Der.identifier(1, 2, 840, 10045, 4, 3, 2));
  }

  /// Returns the name CN=weft.
  private static byte[] name() {
    return Der.sequence(Der.set(Der.sequence(Der.identifier(2, 5, 4, 3), Der.text("weft"))));
  }

  /// Returns the critical key usage "digital signature", the first of nine bits.
  private static byte[] signsOnly() {
    return Der.sequence(
        Der.identifier(2, 5, 29, 15), Der.yes(), Der.octets(Der.bits(7, (byte) 0x80)));
  }
}
