// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import io.weft.comm.CommException;
import io.weft.qa.fuzz.FuzzTarget;
import io.weft.qa.fuzz.ScratchFile;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.Base64;
import java.util.List;

/// A PEM file with certificates and the private key of one of them.
public final class PemFileTarget implements FuzzTarget {

  // The certificate of a P-256 key that was discarded.
  private static final String CERTIFICATE =
      """
      -----BEGIN CERTIFICATE-----
      MIIBdjCCARugAwIBAgIUT1iKczt+P4AHwhODdHdLkr60ss8wCgYIKoZIzj0EAwIw
      DzENMAsGA1UEAwwEd2VmdDAgFw0yNjExMjExNDMwMDZaGA8yMTI2MTAyODE0MzAw
      NlowDzENMAsGA1UEAwwEd2VmdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABOWi
      wGWjqLkLmbTaLZ6z09Sa0DxK9QqTyyRE/TuIq7W2lAkR5Xj1mKywrPVVFYbeKRJy
      13zY/AWoVkx7xd+BoPSjUzBRMB0GA1UdDgQWBBQIuDCqZOKqQSO63Dy5k5kKpIUZ
      wTAfBgNVHSMEGDAWgBQIuDCqZOKqQSO63Dy5k5kKpIUZwTAPBgNVHRMBAf8EBTAD
      AQH/MAoGCCqGSM49BAMCA0kAMEYCIQD+7X3eUv9NSqv7E/ntYOMXHNqmY5kPgBnw
      X5/p5cyxwwIhAJywJRY1z4VRDWlCj0sa2ChZBNU25YPf9Vx702wEvef6
      -----END CERTIFICATE-----
      """;

  private final ScratchFile file = new ScratchFile();
  private final KeyPair pair = pair();

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public PemFileTarget() {}

  private static KeyPair pair() {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("Ed25519");
      return generator.generateKeyPair();
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException("every Java has Ed25519", impossible);
    }
  }

  @Override
  public String name() {
    return "pem-file";
  }

  @Override
  public List<byte[]> seeds() {
    String key = Base64.getMimeEncoder().encodeToString(pair.getPrivate().getEncoded());
    return FuzzTarget.texts(
        CERTIFICATE, "-----BEGIN PRIVATE KEY-----\n" + key + "\n-----END PRIVATE KEY-----\n");
  }

  @Override
  public List<byte[]> dictionary() {
    return FuzzTarget.texts(
        "-----BEGIN CERTIFICATE-----\n",
        "-----END CERTIFICATE-----\n",
        "-----BEGIN PRIVATE KEY-----\n",
        "MIIB");
  }

  @Override
  public void decode(byte[] input) throws IOException {
    Path path = file.with(input);
    try {
      if (PemFile.certificates(path).isEmpty()) {
        throw new AssertionError("a file without certificates was accepted");
      }
    } catch (CommException.Setup refused) {
      check(refused, path);
    }
    try {
      if (!PemFile.privateKey(path, pair.getPublic()).getAlgorithm().equals("EdDSA")) {
        throw new AssertionError("took another key than that of the certificate");
      }
    } catch (CommException.Setup refused) {
      check(refused, path);
    }
  }

  private static void check(CommException.Setup refused, Path path) {
    if (!String.valueOf(refused.getMessage()).contains(path.toString())) {
      throw new AssertionError("the message does not name the file", refused);
    }
  }
}
