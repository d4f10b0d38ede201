// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.WeftConfig;
import io.weft.comm.CommException;
import io.weft.transport.spi.Encryption;
import io.weft.transport.spi.Secret;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks the settings of encryption and the given certificates.
@Timeout(120)
class JobTrustTest {

  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final Secret SECRET = SecretFile.random();

  @TempDir static Path directory;
  private static Path authority;
  private static Path otherAuthority;
  private static Path certificate;
  private static Path key;
  private static Path rsaCertificate;
  private static Path rsaKey;

  @BeforeAll
  static void makeCertificates() throws Exception {
    var tool = new KeyTool(directory);
    tool.make("authority", "EC", "");
    tool.make("rank", "EC", "authority");
    tool.make("other", "RSA", "authority");
    tool.make("stranger", "EC", "");
    authority = tool.certificate("authority");
    otherAuthority = tool.certificate("stranger");
    certificate = tool.certificate("rank");
    key = tool.key("rank");
    rsaCertificate = tool.certificate("other");
    rsaKey = tool.key("other");
  }

  private static JobTrust trust(Object... settings) {
    Map<String, String> environment = new HashMap<>();
    for (int i = 0; i < settings.length; i += 2) {
      environment.put("WEFT_" + settings[i], settings[i + 1].toString());
    }
    return JobTrust.of(WeftConfig.load(environment, new Properties()), SECRET, "job");
  }

  private static JobTrust certified(Path certificate, Path key, Path authority) {
    return trust(
        "SECURE", "on", "TLS_CERTIFICATE", certificate, "TLS_KEY", key, "TLS_CA", authority);
  }

  @Test
  void autoEncryptsOnlyBeyondLoopback() throws Exception {
    Encryption auto = trust().encryption();
    assertThat(auto.at(InetAddress.getByName("127.0.0.1"))).isEmpty();
    assertThat(auto.at(InetAddress.getByName("127.0.1.1"))).isEmpty();
    assertThat(auto.at(InetAddress.getByName("::1"))).isEmpty();
    // 192.0.2.0/24 and 2001:db8::/32 are reserved for documentation.
    assertThat(auto.at(InetAddress.getByName("192.0.2.1"))).contains(new Encryption.Ephemeral());
    assertThat(auto.at(InetAddress.getByName("2001:db8::1"))).contains(new Encryption.Ephemeral());
    assertThat(trust("SECURE", "on").encryption()).isEqualTo(new Encryption.Ephemeral());
    assertThat(trust("SECURE", "off").encryption()).isEqualTo(new Encryption.Off());
    assertThat(trust("TLS_CERTIFICATE", certificate, "TLS_KEY", key, "TLS_CA", authority))
        .extracting(t -> t.encryption().at(InetAddress.ofLiteral("192.0.2.1")).orElseThrow())
        .isInstanceOf(Encryption.Certified.class);
  }

  @Test
  void peersWithCertificatesOfOneAuthorityConnect() throws Exception {
    JobTrust one = certified(certificate, key, authority);
    JobTrust other = certified(rsaCertificate, rsaKey, authority);
    try (TcpStoreServer server =
        TcpStoreServer.bind(InetAddress.getLoopbackAddress(), 0, one, LIMIT)) {
      for (JobTrust trust : new JobTrust[] {one, other}) {
        try (TcpStore store = connect(server, trust)) {
          store.put("k", new byte[] {1});
          assertThat(store.get("k", LIMIT)).isEqualTo(new byte[] {1});
        }
      }
    }
    try (TcpStoreServer server =
            TcpStoreServer.bind(InetAddress.getLoopbackAddress(), 0, other, LIMIT);
        TcpStore store = connect(server, one)) {
      assertThat(store.find("k")).isEmpty();
    }
  }

  @Test
  void certificateOfAnotherAuthorityIsRefused() {
    JobTrust one = certified(certificate, key, authority);
    try (TcpStoreServer server =
        TcpStoreServer.bind(InetAddress.getLoopbackAddress(), 0, one, LIMIT)) {
      assertRefused(server, certified(certificate, key, otherAuthority), "--tls-ca");
      assertRefused(server, trust("SECURE", "on"), "alert", "--tls-certificate");
    }
  }

  @Test
  void theSecretIsNeededInAdditionToTheCertificate() {
    JobTrust one = certified(certificate, key, authority);
    try (TcpStoreServer server =
        TcpStoreServer.bind(InetAddress.getLoopbackAddress(), 0, one, LIMIT)) {
      assertRefused(
          server, new JobTrust(SecretFile.random(), one.encryption(), "job"), "another secret");
    }
  }

  private static void assertRefused(TcpStoreServer server, JobTrust trust, String... words) {
    assertThatThrownBy(() -> connect(server, trust))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining(server.location())
        .hasMessageContainingAll(words);
  }

  private static TcpStore connect(TcpStoreServer server, JobTrust trust)
      throws InterruptedException {
    return TcpStore.connect("127.0.0.1", server.address().getPort(), trust, LIMIT);
  }

  @Test
  void theErrorNamesAnInconsistentSetting() throws Exception {
    assertSetup("tls-key is not set", "TLS_CERTIFICATE", certificate);
    assertSetup("tls-certificate is not set", "TLS_CA", authority);
    assertSetup("secure is off, but", "SECURE", "off", "TLS_CA", authority);
    assertSetup("must be one of auto, on, off", "SECURE", "maybe");
    assertFiles("has another key than that of the certificate", certificate, otherKey());
    assertFiles("has no EC key as the certificate needs it", certificate, rsaKey);
    assertFiles("has no certificate", key, key);
    assertFiles("openssl pkcs8", certificate, privately(certificate));
    assertFiles("cannot be read", directory.resolve("none"), key);
    Path open = Files.copy(key, directory.resolve("open.key"));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r--r--"));
    assertFiles("chmod 600", certificate, open);
  }

  private static Path otherKey() throws Exception {
    var tool = new KeyTool(directory);
    return tool.key("stranger");
  }

  private static Path privately(Path file) throws Exception {
    Path copy = Files.copy(file, directory.resolve("copy"));
    return Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rw-------"));
  }

  private static void assertFiles(String message, Path certificate, Path key) {
    assertSetup(message, "TLS_CERTIFICATE", certificate, "TLS_KEY", key, "TLS_CA", authority);
  }

  private static void assertSetup(String message, Object... settings) {
    assertThatThrownBy(() -> trust(settings))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining(message);
  }
}
