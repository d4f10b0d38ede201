// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.text;

import io.weft.file.ForeignDirectory;
import io.weft.transport.limit.IoErrors;
import io.weft.workloads.data.DataException;
import io.weft.workloads.data.DataFile;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.ReadProgress;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/// Text in UTF-8: a file, or the files of a directory that end in `.txt` or `.md`, in the order of
/// their names. A file may be compressed by gzip. All together have at most 64 MiB.
///
/// @param path the file or directory
/// @param context the characters of an example
public record TextFiles(Path path, int context) implements DataSource {

  private static final int MOST_BYTES = 1 << 26;
  private static final String REMEDY = "give --data a file of text, or none for drawn sentences";

  /// Throws `NullPointerException` for a null path.
  public TextFiles {
    Objects.requireNonNull(path, "path");
  }

  @Override
  public String name() {
    return "text in " + path;
  }

  @Override
  public void check() {
    var unused = windows();
  }

  @Override
  public Examples train(ReadProgress progress) {
    return file(path).within(() -> windows().train());
  }

  @Override
  public Examples test(ReadProgress progress) {
    return file(path).within(() -> windows().test());
  }

  private TextWindows windows() {
    return file(path).within(this::read);
  }

  private TextWindows read() {
    StringBuilder text = new StringBuilder();
    int left = MOST_BYTES;
    for (DataFile each : files()) {
      byte[] bytes = bytes(each, left);
      left -= bytes.length;
      text.append(new String(bytes, StandardCharsets.UTF_8));
    }
    if (text.length() < TextWindows.least(context)) {
      throw file(path)
          .malformed(
              "at least %d characters with --context %d"
                  .formatted(TextWindows.least(context), context),
              text.isEmpty() ? "no text" : text.length() + " characters");
    }
    return new TextWindows(Characters.classes(text.toString()), context);
  }

  private static byte[] bytes(DataFile from, int most) {
    byte[] bytes;
    try (InputStream in = from.open()) {
      bytes = in.readNBytes(most + 1);
    } catch (IOException e) {
      throw from.unreadable(e);
    }
    if (bytes.length > most) {
      throw from.malformed("at most " + MOST_BYTES + " bytes of text in all files", "more");
    }
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] == 0) {
        throw from.malformed("text", "a zero byte at offset " + i);
      }
    }
    return bytes;
  }

  private List<DataFile> files() {
    if (!Files.isDirectory(path)) {
      return List.of(file(path));
    }
    try {
      return ForeignDirectory.entries(path, "*.{txt,md,txt.gz,md.gz}").stream()
          .sorted()
          .map(TextFiles::file)
          .toList();
    } catch (IOException e) {
      throw new DataException.Missing(
          "cannot list " + path + ": " + IoErrors.reason(e) + "; " + REMEDY);
    }
  }

  private static DataFile file(Path path) {
    return new DataFile(path, REMEDY);
  }
}
