// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.perf.kv.KvCommand;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/// Checks real stores in separate processes, whose contents are compared at the end.
@Timeout(300)
class StorePeersTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... words) {
    return new CommandLine(new KvCommand())
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .execute(words);
  }

  @Test
  void pushedPairsAreChecked() {
    checkPairs("push", "4");
  }

  @Tag("long")
  @ParameterizedTest
  @ValueSource(strings = {"pull", "pushpull"})
  void pulledPairsAreChecked(String op) {
    checkPairs(op, "1");
  }

  private void checkPairs(String op, String window) {
    int code =
        run(
            "--pairs",
            "1000",
            "--dim",
            "2",
            "--op",
            op,
            "--window",
            window,
            "--requests",
            "30",
            "--peer",
            "hazelcast,flight-rocksdb");
    assertThat(code).as(err.toString()).isZero();
    assertThat(out.toString())
        .containsPattern("hazelcast .*checked")
        .containsPattern("flight-rocksdb .*checked")
        .contains("of the time of hazelcast, at");
  }

  @Test
  void rowsOfLookupsAreChecked() {
    checkRows("lookup");
  }

  @Tag("long")
  @Test
  void rowsOfUpdatesAreChecked() {
    checkRows("update");
  }

  private void checkRows(String op) {
    int code =
        run(
            "--rows",
            "3000",
            "--pairs",
            "500",
            "--dim",
            "4",
            "--op",
            op,
            "--requests",
            "20",
            "--rounds",
            "2",
            "--peer",
            "hazelcast,flight-rocksdb");
    assertThat(code).as(err.toString()).isZero();
    assertThat(out.toString())
        .containsPattern("hazelcast .*checked")
        .containsPattern("flight-rocksdb .*checked");
  }
}
