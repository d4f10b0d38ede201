// SPDX-License-Identifier: Apache-2.0
package io.weft.file;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/// The kind of a file, in words.
final class FileKind {

  private FileKind() {}

  /// Returns a description such as "it is a directory". Links are not followed.
  static String of(BasicFileAttributes attributes) {
    if (attributes.isRegularFile()) {
      return "it is a regular file";
    }
    if (attributes.isDirectory()) {
      return "it is a directory";
    }
    return attributes.isSymbolicLink()
        ? "it is a symbolic link"
        : "it is a FIFO, a socket or a device";
  }

  static String foreignLink(Path link) throws IOException {
    Path directory = link.toAbsolutePath().getParent();
    String owner = FileOwner.name(link);
    if (directory != null && FileOwner.isOwn(link)) {
      owner = FileOwner.name(directory.toRealPath());
    }
    return "it is a symbolic link that the user '" + owner + "' can have put there; remove it";
  }
}
