// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ServiceConfigurationError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TransportProvidersTest {

  @TempDir Path directory;

  @Test
  void transportsWithoutTheirJarsAreOmitted() {
    assertThat(TransportProvider.all())
        .extracting(TransportProvider::scheme)
        .containsExactlyInAnyOrder("inproc", "tcp");
    assertThat(TransportProvider.find("tcp")).isPresent();
    assertThat(TransportProvider.find("shm")).isEmpty();
  }

  @Test
  void aClassThatIsNotAProviderIsAnError() throws Exception {
    naming(TransportProvidersTest.class.getName());
    assertThatThrownBy(this::listed)
        .isInstanceOf(ServiceConfigurationError.class)
        .hasMessageContaining("not a subtype");
  }

  @Test
  void missingAndDuplicateProviderNamesAreIgnored() throws Exception {
    naming("io.weft.shm.ShmProvider\nio.weft.transport.tcp.TcpProvider\nno.such.Provider");
    assertThat(listed()).isEqualTo(2);
  }

  /// Writes another jar's provider file, in addition to the one of this module.
  private void naming(String classes) throws IOException {
    Path file = directory.resolve("META-INF/services/" + TransportProvider.class.getName());
    Files.createDirectories(file.getParent());
    Files.writeString(file, classes + "\n");
  }

  private int listed() throws IOException {
    Thread self = Thread.currentThread();
    ClassLoader before = self.getContextClassLoader();
    try (var loader = new URLClassLoader(new URL[] {directory.toUri().toURL()}, before)) {
      self.setContextClassLoader(loader);
      return TransportProvider.all().size();
    } finally {
      self.setContextClassLoader(before);
    }
  }
}
