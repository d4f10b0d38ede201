// SPDX-License-Identifier: Apache-2.0
package io.weft.file;

import java.nio.file.attribute.BasicFileAttributes;

/// What there is under a name, in words.
final class FileKind {

  private FileKind() {}

  /// "it is a directory", with links not followed.
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
}
