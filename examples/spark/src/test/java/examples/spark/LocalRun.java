// SPDX-License-Identifier: Apache-2.0
package examples.spark;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/// A run of an example with two ranks in this JVM. `examples/spark/run` starts executors.
final class LocalRun {

  private LocalRun() {}

  /// The main method of an example.
  interface Program {
    /// Runs the example.
    void main(String[] arguments) throws Exception;
  }

  /// Returns the last line that the program prints.
  static String lastLine(Program program, String... arguments) throws Exception {
    System.setProperty("spark.master", "local[2]");
    System.setProperty("spark.driver.host", "127.0.0.1");
    PrintStream before = System.out;
    var said = new ByteArrayOutputStream();
    System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
    try {
      program.main(arguments);
    } finally {
      System.setOut(before);
      System.clearProperty("spark.master");
      System.clearProperty("spark.driver.host");
    }
    return said.toString(StandardCharsets.UTF_8).lines().toList().getLast();
  }
}
