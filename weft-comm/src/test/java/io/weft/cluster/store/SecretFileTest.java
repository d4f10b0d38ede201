// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.WeftConfig;
import io.weft.comm.CommException;
import io.weft.transport.spi.Secret;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class SecretFileTest {

  @TempDir Path directory;

  private Path file(String content, String mode) throws Exception {
    Path file = Files.writeString(directory.resolve("secret"), content);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  @Test
  void createdSecretIsPrivateAndReadBack() throws Exception {
    Path file = directory.resolve("new");
    byte[] created = SecretFile.create(file).bytes();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(SecretFile.read(file).bytes()).isEqualTo(created).hasSize(44);
    assertThat(SecretFile.random().bytes()).isNotEqualTo(created);
  }

  @Test
  void fileAndVariableWithTheSameTextAreTheSameSecret() throws Exception {
    Path file = file("  0123456789abcdef\n", "rw-r-----");
    var named = WeftConfig.load(Map.of("WEFT_SECRET_FILE", file.toString()), new Properties());
    var unnamed = WeftConfig.load(Map.of(), new Properties());
    Map<String, String> environment = Map.of("WEFT_SECRET", "0123456789abcdef");
    assertThat(SecretFile.find(named, Map.of()).orElseThrow().bytes())
        .isEqualTo(SecretFile.find(unnamed, environment).orElseThrow().bytes());
    assertThat(SecretFile.find(unnamed, Map.of())).isEmpty();
  }

  @Test
  void fileThatOthersCanReadIsRefused() throws Exception {
    Path file = file("0123456789abcdef", "rw-r--r--");
    assertThatThrownBy(() -> SecretFile.read(file))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("rw-r--r--")
        .hasMessageContaining("chmod 600 " + file);
  }

  @Test
  void shortSecretIsRefusedWithoutShowingIt() throws Exception {
    Path file = file("hunter2\n", "rw-------");
    assertThatThrownBy(() -> SecretFile.read(file))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("7 bytes")
        .hasMessageContaining(file.toString())
        .message()
        .doesNotContain("hunter2");
  }

  @Test
  void missingFileIsNamed() {
    assertThatThrownBy(() -> SecretFile.read(directory.resolve("none")))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("none")
        .hasMessageContaining("/dev/urandom");
  }

  @Test
  @Timeout(20)
  void pipeIsRefusedWithoutWaitingForItsWriter() throws Exception {
    Path pipe = directory.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", "-m", "600", pipe.toString()).start().waitFor())
        .isZero();
    assertThatThrownBy(() -> SecretFile.read(pipe))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining(pipe + " cannot be read: it is a FIFO");
    assertThatThrownBy(() -> PemFile.certificates(pipe))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("cannot be read: it is a FIFO");
  }

  @Test
  void existingFileIsNotOverwritten() throws Exception {
    Path file = file("0123456789abcdef", "rw-------");
    assertThatThrownBy(() -> SecretFile.create(file)).isInstanceOf(CommException.Setup.class);
  }

  @Test
  void aBinarySecretIsTheSameFromFileAndVariable() throws Exception {
    Path file = file("", "rw-------");
    byte[] bytes = "0123456789abcdef\u00ff\u0000'".getBytes(StandardCharsets.ISO_8859_1);
    Files.write(file, bytes);
    Secret read = SecretFile.read(file);
    assertThat(read.bytes()).isEqualTo(bytes);
    Map<String, String> variables = SecretFile.variables(read);
    assertThat(variables).containsOnlyKeys("WEFT_SECRET_HEX");
    var unnamed = WeftConfig.load(Map.of(), new Properties());
    assertThat(SecretFile.find(unnamed, variables).orElseThrow().bytes()).isEqualTo(bytes);
    assertThat(SecretFile.variables(SecretFile.random())).containsOnlyKeys("WEFT_SECRET");
  }

  @Test
  void variablesThatRanksMayReadDifferentlyAreRefused() {
    var unnamed = WeftConfig.load(Map.of(), new Properties());
    assertThatThrownBy(
            () -> SecretFile.find(unnamed, Map.of("WEFT_SECRET", "0123456789abcdef\u00fc")))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("ASCII")
        .message()
        .doesNotContain("0123456789");
    assertThatThrownBy(() -> SecretFile.find(unnamed, Map.of("WEFT_SECRET_HEX", "0a0")))
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("two hexadecimal digits");
  }
}
