// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.ReadProgress;

/// A data source whose reading is reported when it takes long.
///
/// @param source the source of the examples
/// @param preparation the printer of the reports
public record ToldSource(DataSource source, Preparation preparation) implements DataSource {

  @Override
  public String name() {
    return source.name();
  }

  @Override
  public void check() {
    source.check();
  }

  @Override
  public Examples train(ReadProgress progress) {
    preparation.begin("reading " + name() + " to train on");
    Examples read = source.train(preparation::at);
    preparation.begin("building the network");
    return read;
  }

  @Override
  public Examples test(ReadProgress progress) {
    preparation.begin("reading " + name() + " to test with");
    Examples read = source.test(preparation::at);
    preparation.begin("building the network");
    return read;
  }
}
