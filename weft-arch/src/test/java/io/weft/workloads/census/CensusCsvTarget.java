// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.census;

import io.weft.qa.fuzz.FuzzTarget;
import io.weft.qa.fuzz.ScratchFile;
import io.weft.workloads.data.DataException;
import io.weft.workloads.data.DataFile;
import io.weft.workloads.data.DataReports;
import io.weft.workloads.data.Examples;
import java.io.IOException;
import java.util.List;

/// The reader of the census's CSV.
public final class CensusCsvTarget implements FuzzTarget {

  private static final String ROW =
      "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White,"
          + " Male, 2174, 0, 40, United-States, <=50K";

  private final ScratchFile file = new ScratchFile();

  /// For the fuzzer.
  public CensusCsvTarget() {}

  @Override
  public String name() {
    return "census-csv";
  }

  @Override
  public List<byte[]> seeds() {
    return FuzzTarget.texts(
        ROW + "\n" + ROW.replace("State-gov", "?").replace("<=", ">") + ".\n\n",
        "|1x3 Cross validator\n" + ROW);
  }

  @Override
  public List<byte[]> dictionary() {
    return FuzzTarget.texts(", ", ", 2147483648,", ", ?,", ">50K.\n");
  }

  @Override
  public void decode(byte[] input) throws IOException {
    try {
      Examples read = CensusCsv.read(new DataFile(file.with(input), "remedy"));
      if (read.count() < 1 || read.features() != Encoding.FEATURES) {
        throw new AssertionError("accepted " + read);
      }
    } catch (DataException refused) {
      DataReports.check(refused);
    }
  }
}
