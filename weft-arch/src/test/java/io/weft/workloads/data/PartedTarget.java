// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import io.weft.qa.fuzz.FuzzTarget;
import io.weft.qa.fuzz.ScratchFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;

/// A reader of parts of a text file: it refuses a file, or the rows of its parts are the rows of
/// the whole file.
public abstract class PartedTarget implements FuzzTarget {

  private static final int PARTS = 3;

  private final ScratchFile file = new ScratchFile();

  /// Reads a part.
  protected abstract Examples read(TextPart part);

  @Override
  public final void decode(byte[] input) throws IOException {
    DataFile data = new DataFile(file.with(input), "remedy");
    Examples whole;
    try {
      whole = read(new TextPart(data, 0, 1));
    } catch (DataException refused) {
      DataReports.check(refused);
      return;
    }
    if (whole.count() < 1) {
      throw new AssertionError("a file without rows was accepted");
    }
    var values = new ByteArrayOutputStream();
    var labels = new ByteArrayOutputStream();
    for (int part = 0; part < PARTS; part++) {
      Examples some = read(new TextPart(data, part, PARTS));
      values.writeBytes(some.values());
      labels.writeBytes(some.labels());
    }
    Examples joined =
        new Examples(
            whole.features(),
            whole.classes(),
            whole.scale(),
            values.toByteArray(),
            labels.toByteArray());
    if (!joined.equals(whole)) {
      throw new AssertionError(PARTS + " parts have " + joined + ", the whole file has " + whole);
    }
  }
}
