// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.census;

import io.weft.workloads.data.DataFile;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.Libsvm;
import io.weft.workloads.data.ReadProgress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// The Adult files in one directory: `adult.data` and `adult.test` as published, or else `a9a` and
/// `a9a.t` in LIBSVM's text format. Each file may be compressed by gzip.
///
/// @param directory of the files
public record CensusFiles(Path directory) implements DataSource {

  private static final String REMEDY =
      "adult.data and adult.test are at https://archive.ics.uci.edu/dataset/2/adult, a9a and a9a.t"
          + " at https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html#a9a; without"
          + " --data the workload makes its own census";

  private static final int CHECKED_ROWS = 10;

  @Override
  public String name() {
    return (libsvm() ? "Adult files (LIBSVM) in " : "Adult files in ") + directory;
  }

  @Override
  public void check() {
    for (boolean train : new boolean[] {true, false}) {
      DataFile file = file(train);
      if (libsvm()) {
        Examples ignored = Libsvm.read(file, Encoding.FEATURES, ReadProgress.SILENT);
      } else {
        Examples ignored = CensusCsv.read(file, CHECKED_ROWS);
      }
    }
  }

  @Override
  public Examples train(ReadProgress progress) {
    return read(file(true), progress);
  }

  @Override
  public Examples test(ReadProgress progress) {
    return read(file(false), progress);
  }

  private Examples read(DataFile file, ReadProgress progress) {
    return libsvm()
        ? Libsvm.read(file, Encoding.FEATURES, progress)
        : CensusCsv.read(file, Integer.MAX_VALUE, progress);
  }

  private boolean libsvm() {
    return present("a9a") && !present("adult.data");
  }

  private boolean present(String name) {
    return Files.exists(directory.resolve(name)) || Files.exists(directory.resolve(name + ".gz"));
  }

  private DataFile file(boolean train) {
    String name = libsvm() ? (train ? "a9a" : "a9a.t") : train ? "adult.data" : "adult.test";
    return DataFile.find(directory, List.of(name), REMEDY);
  }
}
