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

/// Describes the system's refusals in words, because Java's message for a missing or inaccessible
/// file is only the file's name.
public final class IoErrors {

  private IoErrors() {}

  /// Returns the file, if the exception has one, and the reason.
  public static String words(IOException refused) {
    String reason = reason(refused);
    return refused instanceof FileSystemException file && file.getFile() != null
        ? file.getFile() + ": " + reason
        : reason;
  }

  /// Returns only the reason, for a message that already names the file.
  public static String reason(IOException refused) {
    return switch (refused) {
      case NoSuchFileException missing -> "no such file or directory";
      case AccessDeniedException denied -> "permission denied";
      case FileAlreadyExistsException there -> "it already exists";
      case NotDirectoryException notOne -> "not a directory";
      case DirectoryNotEmptyException notEmpty -> "directory not empty";
      case FileSystemLoopException loop -> "its links form a loop";
      case NotLinkException notOne -> "not a symbolic link";
      case FileSystemException file when file.getReason() != null -> file.getReason();
      default -> refused.getMessage() == null ? refused.toString() : refused.getMessage();
    };
  }
}
