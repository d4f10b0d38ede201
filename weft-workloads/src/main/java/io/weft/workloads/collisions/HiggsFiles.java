// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.collisions;

import io.weft.workloads.data.DataFile;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.PartReader;
import io.weft.workloads.data.ReadProgress;
import io.weft.workloads.data.TextPart;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/// The file `HIGGS.csv` in a directory, compressed by gzip or not: a label of 0 or 1 and 28 numbers
/// a line. The last 500,000 of its 11 million lines are for testing, as published; in a file of
/// less than 5 million lines, the last tenth.
///
/// @param directory of the file
public record HiggsFiles(Path directory) implements DataSource {

  private static final int CHECKED_LINES = 10;
  private static final int TESTED = 500_000;
  private static final int FRACTION = 10;
  private static final String REMEDY =
      "the file is published at https://archive.ics.uci.edu/dataset/280/higgs; without --data the"
          + " workload makes its own collisions";

  @Override
  public String name() {
    return "HIGGS in " + directory;
  }

  @Override
  public void check() {
    HiggsCsv.check(file(), CHECKED_LINES);
  }

  @Override
  public Examples train(ReadProgress progress) {
    Examples all = whole(progress);
    int trained = all.count() - heldOut(all.count());
    return all.select(IntStream.range(0, trained).toArray());
  }

  @Override
  public Examples test(ReadProgress progress) {
    Examples all = whole(progress);
    int trained = all.count() - heldOut(all.count());
    return all.select(IntStream.range(trained, all.count()).toArray());
  }

  @Override
  public Optional<PartReader> parts() {
    return Optional.of(
        new PartReader() {
          @Override
          public Examples train(int part, int parts, ReadProgress progress) {
            return HiggsCsv.read(new TextPart(file(), part, parts), progress);
          }

          @Override
          public Optional<Examples> test(int part, int parts, ReadProgress progress) {
            return Optional.empty();
          }

          @Override
          public int heldOut(int rows) {
            return HiggsFiles.heldOut(rows);
          }
        });
  }

  private Examples whole(ReadProgress progress) {
    return HiggsCsv.read(new TextPart(file(), 0, 1), progress);
  }

  private static int heldOut(int rows) {
    return rows < 2 ? 0 : Math.min(TESTED, Math.max(1, rows / FRACTION));
  }

  private DataFile file() {
    return DataFile.find(directory, List.of("HIGGS.csv"), REMEDY);
  }
}
