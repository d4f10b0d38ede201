// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.store;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Why a store could not be reached, over all attempts: each reason once, with the address that was
/// tried. The last attempt before a deadline, which had no time, hides nothing. Confined to one
/// thread.
final class Attempts {

  private static final int MOST = 4;

  private final Map<String, Integer> reasons = new LinkedHashMap<>();
  private @Nullable IOException first;

  /// Notes a failure of an attempt at `where` that had this much time.
  ///
  /// @param advice what else to say of it, or nothing
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

  /// The most telling failure; null where nothing was noted.
  @Nullable IOException cause() {
    return first;
  }

  /// All reasons, in the order in which they were met.
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
