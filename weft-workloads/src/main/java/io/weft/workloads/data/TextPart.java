// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Objects;

/// One of several nearly equal parts of a text file's lines; together the parts are the file. A
/// line of a plain file belongs to the part in which its first byte is, so that a reader of a part
/// reads no other bytes of the file. A file compressed by gzip is inflated from its beginning,
/// first to count the lines. The memory used does not depend on the file. Immutable.
///
/// @param file with the text
/// @param part from 0
/// @param parts of the file
public record TextPart(DataFile file, int part, int parts) {

  private static final int CHUNK = 1 << 20;
  private static final int MOST_SHOWN = 40;

  /// Throws `IllegalArgumentException` unless `part` is one of `parts`.
  public TextPart {
    Objects.requireNonNull(file, "file");
    if (part < 0 || part >= parts) {
      throw new IllegalArgumentException("part " + part + " of " + parts);
    }
  }

  /// A consumer of lines.
  @FunctionalInterface
  public interface LineReader {

    /// Takes a line that is not blank. The line changes after the call. Returns whether to read on.
    boolean line(Line line);
  }

  /// The current line of a reader.
  public final class Line {

    private final byte[] buffer = new byte[CHUNK];
    private int filled;
    private int from;
    private int to;
    private int next;
    private boolean terminated;
    private long ordinal = -1;
    private long offset;
    private long following;

    private Line() {}

    /// Returns the bytes of a buffer with the line in it; borrowed.
    public byte[] bytes() {
      return buffer;
    }

    /// Returns the position of the line's first byte.
    public int from() {
      return from;
    }

    /// Returns the position after the line's last byte; its terminator is not part of the line.
    public int to() {
      return to;
    }

    /// Returns whether a terminator ends the line; only the last line of a file may have none.
    public boolean isTerminated() {
      return terminated;
    }

    /// Returns "line 12", where lines count from 1. The first bytes of the file are read to count.
    public String name() {
      return "line " + (plain() ? linesBefore(offset) + 1 : ordinal + 1);
    }

    /// Returns the error for wrong content in this line.
    public DataException malformed(String expected, String found) {
      return file.malformed(expected + " in " + name(), found);
    }

    /// Returns some bytes of the line in quotes, shortened, for errors.
    public String quoted(int first, int end) {
      int shown = Math.min(end, first + MOST_SHOWN);
      return "'"
          + new String(buffer, first, shown - first, StandardCharsets.ISO_8859_1)
          + (shown < end ? "…'" : "'");
    }

    /// Moves to the next line; returns false if there is none.
    private boolean next(InputStream in) throws IOException {
      from = next;
      offset = following;
      ordinal++;
      int end = terminator(buffer, from, filled);
      while (end < 0) {
        if (filled - from == buffer.length) {
          throw malformed("at most " + CHUNK + " bytes", "more");
        }
        System.arraycopy(buffer, from, buffer, 0, filled - from);
        filled -= from;
        from = 0;
        int read = in.read(buffer, filled, buffer.length - filled);
        if (read < 0) {
          break;
        }
        end = terminator(buffer, filled, filled + read);
        filled += read;
      }
      terminated = end >= 0;
      to = terminated ? end : filled;
      next = terminated ? end + 1 : filled;
      following += next - from;
      to -= to > from && buffer[to - 1] == '\r' ? 1 : 0;
      return terminated || next > from;
    }

    private boolean isBlank() {
      for (int i = from; i < to; i++) {
        if (buffer[i] > ' ' || buffer[i] < 0) {
          return false;
        }
      }
      return true;
    }
  }

  /// Returns the number of lines that are not blank.
  public int count() {
    long[] count = {0};
    read(
        _ -> {
          count[0]++;
          return true;
        });
    if (count[0] > Integer.MAX_VALUE) {
      throw file.malformed("at most " + Integer.MAX_VALUE + " lines", count[0] + " lines");
    }
    return (int) count[0];
  }

  /// Passes each line that is not blank to `reader`. Throws `DataException`.
  public void read(LineReader reader) {
    Objects.requireNonNull(reader, "reader");
    try {
      if (plain()) {
        long size = Files.size(file.path());
        readFrom(share(size, part), share(size, part + 1), reader);
      } else if (parts == 1) {
        readFrom(0, Long.MAX_VALUE, reader);
      } else {
        long lines = linesBefore(Long.MAX_VALUE);
        readFrom(share(lines, part), share(lines, part + 1), reader);
      }
    } catch (IOException e) {
      throw file.unreadable(e);
    }
  }

  private boolean plain() {
    return !file.isCompressed();
  }

  private long share(long of, int before) {
    return of / parts * before + of % parts * before / parts;
  }

  /// Reads the lines whose first byte of a plain file, or whose number in a compressed file, is in
  /// a range.
  private void readFrom(long first, long end, LineReader reader) throws IOException {
    if (first >= end) {
      return;
    }
    boolean plain = plain();
    var line = new Line();
    try (InputStream in = file.open()) {
      if (plain && first > 0) {
        // The byte before the range tells whether a line begins with the range.
        in.skipNBytes(first - 1);
        line.following = first - 1;
        boolean unused = line.next(in);
      }
      while (line.next(in) && (plain ? line.offset : line.ordinal) < end) {
        boolean mine = plain || line.ordinal >= first;
        if (mine && !line.isBlank() && !reader.line(line)) {
          return;
        }
      }
    }
  }

  private static int terminator(byte[] bytes, int from, int to) {
    for (int i = from; i < to; i++) {
      if (bytes[i] == '\n') {
        return i;
      }
    }
    return -1;
  }

  /// Returns the number of lines that begin before this byte of the text.
  private long linesBefore(long offset) {
    long lines = 0;
    try (InputStream in = file.open()) {
      byte[] buffer = new byte[CHUNK];
      boolean begins = true;
      long left = offset;
      while (left > 0) {
        int read = in.read(buffer, 0, (int) Math.min(left, CHUNK));
        if (read < 0) {
          break;
        }
        for (int i = 0; i < read; i++) {
          lines += begins ? 1 : 0;
          begins = buffer[i] == '\n';
        }
        left -= read;
      }
    } catch (IOException e) {
      throw file.unreadable(e);
    }
    return lines;
  }

  /// The fields of a line, which a reader uses again for each line.
  public static final class Fields {

    private final int[] starts;

    /// Creates the fields of lines of this number of columns.
    public Fields(int columns) {
      starts = new int[columns + 2];
    }

    /// Divides a line. Returns the number of fields, or a number above that of the columns if there
    /// are more.
    public int split(Line line, byte separator) {
      Objects.requireNonNull(line, "line");
      int most = starts.length - 1;
      int count = 0;
      starts[count++] = line.from;
      for (int i = line.from; i < line.to && count < most; i++) {
        if (line.buffer[i] == separator) {
          starts[count++] = i + 1;
        }
      }
      starts[count] = line.to + 1;
      return count;
    }

    /// Returns the number in a field; NaN unless it is a finite decimal number.
    public float number(Line line, int field) {
      Objects.requireNonNull(line, "line");
      return DecimalText.parse(line.buffer, starts[field], starts[field + 1] - 1);
    }

    /// Returns the number of characters of a field, without a sign.
    public int digits(Line line, int field) {
      Objects.requireNonNull(line, "line");
      int length = starts[field + 1] - 1 - starts[field];
      return length > 0 && line.buffer[starts[field]] == '-' ? length - 1 : length;
    }

    /// Returns a field in quotes, shortened, for errors.
    public String quoted(Line line, int field) {
      Objects.requireNonNull(line, "line");
      return line.quoted(starts[field], starts[field + 1] - 1);
    }
  }
}
