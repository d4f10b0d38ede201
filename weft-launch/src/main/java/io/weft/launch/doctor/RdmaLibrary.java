// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/// Checks the files of libibverbs and its providers, which are the drivers of the cards.
final class RdmaLibrary {

  private static final String AREA = "rdma";
  private static final String SUBJECT = "libibverbs";
  private static final String FILE = "libibverbs.so.1";
  private static final List<String> PLACES = List.of("usr/lib64", "usr/lib", "lib64", "lib");

  private RdmaLibrary() {}

  static CheckResult look(Path root) throws IOException {
    Optional<Path> found =
        places(root).stream().map(place -> place.resolve(FILE)).filter(Files::exists).findFirst();
    if (found.isEmpty()) {
      return CheckResult.missing(
          AREA,
          SUBJECT,
          FILE + " is in none of the system's directories",
          "install libibverbs1 and ibverbs-providers (Debian, Ubuntu), libibverbs (Fedora, RHEL)");
    }
    List<String> providers = providers(found.get().resolveSibling("libibverbs"));
    return providers.isEmpty()
        ? CheckResult.missing(
            AREA,
            SUBJECT,
            found.get() + " has no providers, so it will find no device",
            "install ibverbs-providers")
        : CheckResult.works(AREA, SUBJECT, found.get() + "; knows " + String.join(", ", providers));
  }

  /// Returns the system's library directories. Debian has a directory for each processor
  /// architecture.
  private static List<Path> places(Path root) throws IOException {
    var places = new ArrayList<Path>();
    Path first = root.resolve("usr/lib");
    if (Files.isDirectory(first)) {
      try (DirectoryStream<Path> triplets = Files.newDirectoryStream(first, "*-linux-gnu*")) {
        triplets.forEach(places::add);
      }
    }
    PLACES.forEach(place -> places.add(root.resolve(place)));
    return places;
  }

  /// Returns the names of the providers: "rxe" for `librxe-rdmav34.so`.
  private static List<String> providers(Path directory) throws IOException {
    var names = new ArrayList<String>();
    if (Files.isDirectory(directory)) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "lib*-rdmav*.so")) {
        for (Path file : files) {
          String name = file.getFileName().toString();
          names.add(name.substring("lib".length(), name.indexOf("-rdmav")));
        }
      }
    }
    names.sort(Comparator.naturalOrder());
    return names;
  }
}
