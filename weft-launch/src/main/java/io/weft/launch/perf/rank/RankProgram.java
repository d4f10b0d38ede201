// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf.rank;

import io.weft.CommException;
import io.weft.transport.TransportException;
import java.io.PrintStream;

/// What one rank of a measurement does, from its arguments to its exit code.
public interface RankProgram {

  /// Measures; rank 0 prints what `RankReport` reads. Throws `IllegalArgumentException` for
  /// arguments that are wrong, and what a job can fail of.
  void measure(RankArguments arguments, PrintStream out, PrintStream err)
      throws InterruptedException;

  /// Runs it in place of a `main`. Gives 0, 1 if the job failed, 2 for wrong arguments.
  default int run(String[] words, PrintStream out, PrintStream err) {
    try {
      measure(RankArguments.parse(words), out, err);
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
