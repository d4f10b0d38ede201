// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.PartReader;
import io.weft.workloads.data.ReadProgress;
import java.util.Optional;

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
    preparation.begin("exchanging examples and building the network");
    return read;
  }

  @Override
  public Optional<PartReader> parts() {
    return source.parts().map(reader -> new ToldParts(this, reader));
  }

  private record ToldParts(ToldSource told, PartReader reader) implements PartReader {

    @Override
    public Examples train(int part, int parts, ReadProgress progress) {
      told.preparation.begin("reading " + told.name() + " to train on");
      Examples read = reader.train(part, parts, told.preparation::at);
      told.preparation.begin("exchanging examples and building the network");
      return read;
    }

    @Override
    public Optional<Examples> test(int part, int parts, ReadProgress progress) {
      told.preparation.begin("reading " + told.name() + " to test with");
      Optional<Examples> read = reader.test(part, parts, told.preparation::at);
      told.preparation.begin("exchanging examples and building the network");
      return read;
    }

    @Override
    public int heldOut(int rows) {
      return reader.heldOut(rows);
    }
  }

  @Override
  public Examples test(ReadProgress progress) {
    preparation.begin("reading " + name() + " to test with");
    Examples read = source.test(preparation::at);
    preparation.begin("exchanging examples and building the network");
    return read;
  }
}
