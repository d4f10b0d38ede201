// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The reasons why a store could not be reached, over all attempts. Each reason is listed once,
/// with the address that was tried. The last attempt before a deadline, which had little time, does
/// not hide earlier reasons. Confined to one thread.
final class Attempts {

  private static final int MOST = 4;

  private final Map<String, Integer> reasons = new LinkedHashMap<>();
  private @Nullable IOException first;

  /// Notes the failure of an attempt at `where`.
  ///
  /// @param advice text to append to the reason, or empty
  /// @param millis the time limit of the attempt
  /// @param fullMillis the time limit of an attempt that the deadline does not shorten
  void note(String where, IOException failure, String advice, long millis, int fullMillis) {
    if (failure instanceof SocketTimeoutException && millis < fullMillis && first != null) {
      return;
    }
    if (first == null || failure instanceof JobMismatch) {
      first = failure;
    }
    String reason = where + ": " + words(failure) + advice;
    if (reasons.containsKey(reason) || reasons.size() < MOST) {
      reasons.merge(reason, 1, Integer::sum);
    }
  }

  /// The most informative failure; null if none was noted.
  @Nullable IOException cause() {
    return first;
  }

  /// Lists all reasons, in the order of their first occurrence.
  String reasons() {
    List<String> texts = new ArrayList<>();
    reasons.forEach((reason, times) -> texts.add(reason + (times > 1 ? " x " + times : "")));
    return String.join("; ", texts);
  }

  private static String words(IOException failure) {
    String name = failure.getClass().getSimpleName();
    return failure instanceof JobMismatch
        ? String.valueOf(failure.getMessage())
        : failure.getMessage() == null ? name : failure.getMessage() + " (" + name + ")";
  }
}
