// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fuzz;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/// A target's corpus in a directory: one file an input, named after its digest. Files whose names
/// begin with `bug-` hold what once failed; they are never removed.
///
/// @param directory need not be there
record CorpusFiles(Path directory) {

  private static final String KEPT = "bug-";
  private static final int NAME_DIGITS = 12;

  /// All inputs, in order of their names.
  List<byte[]> read() {
    var inputs = new ArrayList<byte[]>();
    for (Path file : files()) {
      try {
        inputs.add(Files.readAllBytes(file));
      } catch (IOException unreadable) {
        throw new UncheckedIOException(unreadable);
      }
    }
    return inputs;
  }

  /// Replaces all but the former failures.
  void write(List<byte[]> inputs) {
    try {
      Files.createDirectories(directory);
      for (Path file : files()) {
        if (!file.getFileName().toString().startsWith(KEPT)) {
          Files.delete(file);
        }
      }
      for (byte[] input : inputs) {
        Files.write(directory.resolve(name(input)), input);
      }
    } catch (IOException unwritable) {
      throw new UncheckedIOException(unwritable);
    }
  }

  private List<Path> files() {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(Files::isRegularFile).sorted().toList();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static String name(byte[] input) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(input);
      return HexFormat.of().formatHex(digest).substring(0, NAME_DIGITS);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every Java has SHA-256", impossible);
    }
  }
}
