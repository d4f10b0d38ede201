// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.comm.CommException;
import io.weft.file.ForeignFile;
import io.weft.transport.limit.IoErrors;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.EdECPublicKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Certificates and keys in PEM files [RFC7468 §5, §10]. Any thread.
final class PemFile {

  private static final int MAX_BYTES = 1 << 20;
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");

  private PemFile() {}

  /// Returns the certificates of a file, at least one, in file order. Throws `CommException.Setup`.
  static List<X509Certificate> certificates(Path file) {
    byte[] content = read(file);
    try {
      List<X509Certificate> found =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(content))
              .stream()
              .map(X509Certificate.class::cast)
              .toList();
      if (!found.isEmpty()) {
        return found;
      }
    } catch (GeneralSecurityException malformed) {
      throw refused(file, "has no certificate that can be read: " + malformed, malformed);
    }
    throw refused(file, "has no certificate; it must be PEM, '-----BEGIN CERTIFICATE-----'", null);
  }

  /// Returns the private key of a file that matches this public key. Throws `CommException.Setup`.
  static PrivateKey privateKey(Path file, PublicKey fits) {
    Matcher key = KEY.matcher(privately(file));
    if (!key.find()) {
      throw refused(
          file,
          "has no key of the form '-----BEGIN PRIVATE KEY-----'; make it so with 'openssl pkcs8"
              + " -topk8 -nocrypt -in KEY'",
          null);
    }
    try {
      byte[] encoded = Base64.getMimeDecoder().decode(key.group(1));
      PrivateKey found =
          KeyFactory.getInstance(fits.getAlgorithm())
              .generatePrivate(new PKCS8EncodedKeySpec(encoded));
      if (fit(found, fits)) {
        return found;
      }
    } catch (GeneralSecurityException | IllegalArgumentException malformed) {
      throw refused(
          file,
          "has no " + fits.getAlgorithm() + " key as the certificate needs it: " + malformed,
          malformed);
    }
    throw refused(file, "has another key than that of the certificate", null);
  }

  private static boolean fit(PrivateKey key, PublicKey fits) throws GeneralSecurityException {
    String algorithm =
        switch (fits) {
          case ECPublicKey ec -> "SHA256withECDSA";
          case EdECPublicKey ed -> "EdDSA";
          default -> "SHA256withRSA";
        };
    Signature signature = Signature.getInstance(algorithm);
    signature.initSign(key);
    byte[] signed = signature.sign();
    signature.initVerify(fits);
    return signature.verify(signed);
  }

  private static String privately(Path file) {
    try {
      SecretFile.requirePrivate(file);
    } catch (IOException unreadable) {
      throw refused(file, "cannot be read: " + IoErrors.reason(unreadable), unreadable);
    }
    return new String(read(file), StandardCharsets.ISO_8859_1);
  }

  private static byte[] read(Path file) {
    try {
      return ForeignFile.named(file).bytes(MAX_BYTES);
    } catch (IOException unreadable) {
      throw refused(file, "cannot be read: " + IoErrors.reason(unreadable), unreadable);
    }
  }

  private static CommException.Setup refused(Path file, String why, @Nullable Throwable cause) {
    return new CommException.Setup(
        "the file " + file + " of tls-certificate, tls-key or tls-ca " + why, cause);
  }
}
