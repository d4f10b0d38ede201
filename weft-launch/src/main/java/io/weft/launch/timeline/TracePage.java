// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.timeline;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/// Writes the timelines of a job as one page for a browser, which needs no network and no other
/// file. The page contains the trace of `ChromeTrace` and draws it.
public final class TracePage {

  private static final String PAGE = "trace-page.html";
  private static final String PLACE = "@TRACE@";

  private TracePage() {}

  /// Escapes `<`, because the script element with the trace must not contain its end tag. In JSON
  /// this character occurs only in texts.
  private static final class Escaping extends FilterOutputStream {

    private static final byte[] LESS = "\\u003c".getBytes(StandardCharsets.US_ASCII);

    Escaping(OutputStream out) {
      super(out);
    }

    @Override
    public void write(int b) throws IOException {
      if (b == '<') {
        out.write(LESS);
      } else {
        out.write(b);
      }
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      for (int i = offset; i < offset + length; i++) {
        write(bytes[i]);
      }
    }
  }

  /// Writes the page; returns the number of events. `out` should be buffered.
  public static long write(JobTimelines job, OutputStream out) throws IOException {
    String page = page();
    int place = page.indexOf(PLACE);
    if (place < 0) {
      throw new IllegalStateException(PAGE + " has no place for a trace");
    }
    out.write(page.substring(0, place).getBytes(StandardCharsets.UTF_8));
    long events = ChromeTrace.write(job, new Escaping(out));
    out.write(page.substring(place + PLACE.length()).getBytes(StandardCharsets.UTF_8));
    return events;
  }

  private static String page() throws IOException {
    try (InputStream in = TracePage.class.getResourceAsStream(PAGE)) {
      if (in == null) {
        throw new IllegalStateException("the jar of weft-launch lacks " + PAGE);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
