// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/// A target's corpus in a directory. The file `inputs` has one input per line in hexadecimal. Each
/// file with the prefix `bug-` is an input that once failed, and never changes.
///
/// @param directory the directory, which may not exist yet
record CorpusFiles(Path directory) {

  private static final String INPUTS = "inputs";
  private static final String FORMER_FAILURE = "bug-";

  /// Returns the former failures in order of their names, then the other inputs.
  List<byte[]> read() {
    try {
      var inputs = new ArrayList<byte[]>(formerFailures());
      Path file = directory.resolve(INPUTS);
      if (Files.exists(file)) {
        Files.readAllLines(file).stream().map(HexFormat.of()::parseHex).forEach(inputs::add);
      }
      return inputs;
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private List<byte[]> formerFailures() throws IOException {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    var inputs = new ArrayList<byte[]>();
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.filter(CorpusFiles::isFormerFailure).sorted().toList()) {
        inputs.add(Files.readAllBytes(file));
      }
    }
    return inputs;
  }

  private static boolean isFormerFailure(Path file) {
    return file.getFileName().toString().startsWith(FORMER_FAILURE);
  }

  /// Replaces all inputs except the former failures. The shortest comes first.
  void write(List<byte[]> inputs) {
    try {
      Files.createDirectories(directory);
      List<byte[]> failures = formerFailures();
      List<String> lines =
          inputs.stream()
              .filter(input -> failures.stream().noneMatch(known -> Arrays.equals(known, input)))
              .sorted(CorpusFiles::shorterFirst)
              .map(HexFormat.of()::formatHex)
              .toList();
      Files.write(directory.resolve(INPUTS), lines);
    } catch (IOException unwritable) {
      throw new UncheckedIOException(unwritable);
    }
  }

  private static int shorterFirst(byte[] a, byte[] b) {
    return a.length == b.length
        ? Arrays.compareUnsigned(a, b)
        : Integer.compare(a.length, b.length);
  }
}
