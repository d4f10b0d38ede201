// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.vehicles;

import io.weft.workloads.data.DataFile;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.LibsvmValues;
import io.weft.workloads.data.PartReader;
import io.weft.workloads.data.ReadProgress;
import io.weft.workloads.data.TextPart;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// The Acoustic files in a directory in LIBSVM's text format: `acoustic_scale` and
/// `acoustic_scale.t`, or else `acoustic` and `acoustic.t`. Each may be compressed by gzip. A line
/// has a label of 1 to 3 and 50 numbers.
///
/// @param directory of the files
public record AcousticFiles(Path directory) implements DataSource {

  private static final int FEATURES = 50;
  private static final int CLASSES = 3;
  private static final int CHECKED_LINES = 10;
  private static final LibsvmValues FORMAT = new LibsvmValues(FEATURES, CLASSES);
  private static final String REMEDY =
      "acoustic_scale.bz2 and acoustic_scale.t.bz2 are at"
          + " https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass.html; decompress"
          + " them by bunzip2; without --data the workload makes its own sounds";

  @Override
  public String name() {
    return "Acoustic files in " + directory;
  }

  @Override
  public void check() {
    FORMAT.check(file(""), CHECKED_LINES);
    FORMAT.check(file(".t"), CHECKED_LINES);
  }

  @Override
  public Examples train(ReadProgress progress) {
    return FORMAT.read(new TextPart(file(""), 0, 1), progress);
  }

  @Override
  public Examples test(ReadProgress progress) {
    return FORMAT.read(new TextPart(file(".t"), 0, 1), progress);
  }

  @Override
  public Optional<PartReader> parts() {
    return Optional.of(
        new PartReader() {
          @Override
          public Examples train(int part, int parts, ReadProgress progress) {
            return FORMAT.read(new TextPart(file(""), part, parts), progress);
          }

          @Override
          public Optional<Examples> test(int part, int parts, ReadProgress progress) {
            return Optional.of(FORMAT.read(new TextPart(file(".t"), part, parts), progress));
          }
        });
  }

  private DataFile file(String ending) {
    boolean scaled = present("acoustic_scale") || !present("acoustic");
    String name = (scaled ? "acoustic_scale" : "acoustic") + ending;
    return DataFile.find(directory, List.of(name), REMEDY);
  }

  private boolean present(String name) {
    return Files.exists(directory.resolve(name)) || Files.exists(directory.resolve(name + ".gz"));
  }
}
