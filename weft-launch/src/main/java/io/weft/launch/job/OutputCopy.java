// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.launch.process.OutputWriter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Copies one stream of a rank as it arrives: to this process's stream, to the rank's file, and
/// into its last lines. A line is written in one piece, so that ranks' lines do not mix. Runs on a
/// separate thread.
final class OutputCopy implements Runnable {

  private static final int LONGEST_LINE = 1 << 16;

  private final InputStream from;
  private final OutputWriter to;
  private final KeptOutput.Stream file;
  private final byte[] prefix;
  private final LastLines last;
  private final byte[] line;
  private int length;

  /// Creates a copy. An empty `prefix` copies bytes at once, without waiting for the end of a line.
  OutputCopy(
      InputStream from, OutputWriter to, KeptOutput.Stream file, String prefix, LastLines last) {
    this.from = from;
    this.to = to;
    this.file = file;
    this.prefix = prefix.getBytes(StandardCharsets.UTF_8);
    this.last = last;
    this.line = Arrays.copyOf(this.prefix, this.prefix.length + LONGEST_LINE + 1);
    this.length = this.prefix.length;
  }

  @Override
  public void run() {
    byte[] chunk = new byte[1 << 13];
    try (from;
        file) {
      for (int count = from.read(chunk); count >= 0; count = from.read(chunk)) {
        if (prefix.length == 0) {
          to.write(chunk, 0, count);
        }
        file.write(chunk, 0, count);
        for (int i = 0; i < count; i++) {
          take(chunk[i]);
        }
      }
      if (length > prefix.length) {
        endLine();
      }
    } catch (IOException gone) {
      // The rank ended with the stream open in a child process, which was ended too.
      assert length >= prefix.length;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void take(byte next) throws InterruptedException {
    boolean redraw = prefix.length == 0 && next == '\r';
    if (next == '\n' || redraw) {
      endLine();
    } else {
      line[length++] = next;
      if (length == prefix.length + LONGEST_LINE) {
        endLine();
      }
    }
  }

  private void endLine() throws InterruptedException {
    last.add(Arrays.copyOfRange(line, prefix.length, length), length - prefix.length);
    if (prefix.length > 0) {
      line[length] = '\n';
      to.write(line, 0, length + 1);
    }
    length = prefix.length;
  }
}
