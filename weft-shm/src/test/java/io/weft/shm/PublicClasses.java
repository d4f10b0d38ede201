// SPDX-License-Identifier: Apache-2.0
package io.weft.shm;

import io.weft.transport.spi.TransportProvider;
import io.weft.transport.tcp.TcpProvider;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The part of the class path that `EchoProcess` needs, copied to a directory that every user can
/// read.
final class PublicClasses {

  private static final List<String> PACKAGES =
      List.of("io/weft/config", "io/weft/transport", "io/weft/shm");

  private PublicClasses() {}

  /// Returns a class path below this directory, which becomes readable by all users.
  static String below(Path directory) throws IOException, URISyntaxException {
    Path classes = Files.createDirectories(directory.resolve("classes"));
    for (Class<?> one : List.of(TcpProvider.class, ShmProvider.class, EchoProcess.class)) {
      Path from = Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI());
      if (Files.isDirectory(from)) {
        for (String each : PACKAGES) {
          copy(from, from.resolve(each), classes);
        }
      } else {
        Files.copy(
            from, directory.resolve(from.getFileName()), StandardCopyOption.REPLACE_EXISTING);
      }
    }
    Path services = Files.createDirectories(classes.resolve("META-INF/services"));
    Files.writeString(
        services.resolve(TransportProvider.class.getName()), TcpProvider.class.getName());
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path path : all.toList()) {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
      }
    }
    try (Stream<Path> parts = Files.list(directory)) {
      return parts.map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }
  }

  private static void copy(Path root, Path from, Path to) throws IOException {
    if (!Files.isDirectory(from)) {
      return;
    }
    try (Stream<Path> all = Files.walk(from)) {
      for (Path path : all.filter(Files::isRegularFile).toList()) {
        Path target = to.resolve(root.relativize(path).toString());
        Files.createDirectories(target.getParent());
        Files.copy(path, target, StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }
}
