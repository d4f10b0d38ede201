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
    String reason = reason(refused);
    return refused instanceof FileSystemException file && file.getFile() != null
        ? file.getFile() + ": " + reason
        : reason;
  }

  /// The reason alone, for a message that names the file anyway.
  public static String reason(IOException refused) {
    return switch (refused) {
      case NoSuchFileException missing -> "no such file or directory";
      case AccessDeniedException denied -> "permission denied";
      case FileAlreadyExistsException there -> "it is there already";
      case NotDirectoryException notOne -> "not a directory";
      case DirectoryNotEmptyException notEmpty -> "directory not empty";
      case FileSystemLoopException loop -> "its links go round in a circle";
      case NotLinkException notOne -> "not a symbolic link";
      case FileSystemException file when file.getReason() != null -> file.getReason();
      default -> refused.getMessage() == null ? refused.toString() : refused.getMessage();
    };
  }
}
