// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.job;

import io.weft.comm.CommException;
import io.weft.comm.Handle;

/// The failures of operations that are expected to fail.
public final class ExpectedFailures {

  private ExpectedFailures() {}

  /// Waits for the operation and returns its failure. Throws `AssertionError` if it succeeds.
  public static CommException of(Handle<?> handle) throws InterruptedException {
    Object result;
    try {
      result = handle.await();
    } catch (CommException failure) {
      return failure;
    }
    throw new AssertionError("it did not fail, it returned " + result);
  }
}
