// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Authorities and certificates that the JDK's keytool makes, in PEM files of a directory.
final class KeyTool {

  private static final String PASSWORD = "not a secret";

  private final Path directory;
  private final Path store;

  KeyTool(Path directory) {
    this.directory = directory;
    this.store = directory.resolve("store.p12");
  }

  /// Creates a key and a certificate of this name. The signer signs the certificate; without a
  /// signer the certificate is an authority.
  void make(String name, String algorithm, String signer) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keystore",
                store.toString(),
                "-storetype",
                "PKCS12",
                "-storepass",
                PASSWORD,
                "-alias",
                name,
                "-keyalg",
                algorithm,
                "-dname",
                "CN=" + name,
                "-validity",
                "3650"));
    command.addAll(signer.isEmpty() ? List.of("-ext", "bc:c") : List.of("-signer", signer));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("keytool.log").toFile())
            .start();
    if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
      process.destroyForcibly();
      throw new AssertionError(Files.readString(directory.resolve("keytool.log")));
    }
  }

  /// Writes the certificate without its chain, and returns the file.
  Path certificate(String name) throws Exception {
    Certificate certificate = read().getCertificate(name);
    return write(name + ".crt", "CERTIFICATE", certificate.getEncoded());
  }

  /// Writes the private key, readable only by its owner, and returns the file.
  Path key(String name) throws Exception {
    Key key = read().getKey(name, PASSWORD.toCharArray());
    Path file = write(name + ".key", "PRIVATE KEY", key.getEncoded());
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
  }

  private KeyStore read() throws IOException, GeneralSecurityException {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    return keys;
  }

  private Path write(String file, String what, byte[] encoded) throws IOException {
    String text =
        "Bag attributes, which are no part of it\n-----BEGIN "
            + what
            + "-----\n"
            + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(encoded)
            + "\n-----END "
            + what
            + "-----\n";
    return Files.write(directory.resolve(file), text.getBytes(StandardCharsets.US_ASCII));
  }
}
