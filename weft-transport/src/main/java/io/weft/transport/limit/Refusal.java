// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.limit;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.NotLinkException;

/// Why the system refused something, in words: Java's own message of a missing file, or of one that
/// nobody may open, is the file's name alone. Pure.
public final class Refusal {

  private Refusal() {}

  /// The file, where there is one, and the reason.
  public static String words(IOException refused) {
    if (!(refused instanceof FileSystemException file)) {
      return refused.getMessage() == null ? refused.toString() : refused.getMessage();
    }
    String reason =
        switch (file) {
          case NoSuchFileException missing -> "no such file or directory";
          case AccessDeniedException denied -> "permission denied";
          case FileAlreadyExistsException there -> "it is there already";
          case NotDirectoryException notOne -> "not a directory";
          case DirectoryNotEmptyException notEmpty -> "directory not empty";
          case FileSystemLoopException loop -> "its links go round in a circle";
          case NotLinkException notOne -> "not a symbolic link";
          default -> file.getReason() == null ? file.toString() : file.getReason();
        };
    return file.getFile() == null ? reason : file.getFile() + ": " + reason;
  }
}
