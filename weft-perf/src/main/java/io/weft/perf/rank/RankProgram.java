// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import io.weft.comm.CommException;
import io.weft.transport.TransportException;
import java.io.PrintStream;
import java.util.List;

/// The main program of one rank of a measurement, from its arguments to its exit code.
public interface RankProgram {

  /// Runs the measurement. One rank prints the report. Throws `IllegalArgumentException` for wrong
  /// arguments, and the exceptions with which a job can fail.
  void measure(List<String> words, PrintStream out, PrintStream err) throws InterruptedException;

  /// Runs a program as the `main` of its process, which ends with the program's exit code.
  static void exit(String[] words, RankProgram program) {
    System.exit(program.run(words, System.out, System.err));
  }

  /// Runs `measure` in place of a `main`. Returns the exit code: 0, 1 if the job failed, 2 for
  /// wrong arguments.
  default int run(String[] words, PrintStream out, PrintStream err) {
    try {
      measure(List.of(words), out, err);
      return 0;
    } catch (IllegalArgumentException e) {
      err.println(e.getMessage());
      return 2;
    } catch (CommException | TransportException | IllegalStateException e) {
      err.println(e.getMessage());
      return 1;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      err.println("interrupted");
      return 1;
    }
  }
}
