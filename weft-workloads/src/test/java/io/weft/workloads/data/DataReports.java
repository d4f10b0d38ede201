// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

/// The check of messages that refuse a data file.
public final class DataReports {

  private DataReports() {}

  /// Throws unless the message has the expected and found content and the remedy, and is short.
  public static void check(DataException refused) {
    String message = String.valueOf(refused.getMessage());
    if (!message.contains("expected")
        || !message.contains("found")
        || !message.contains("remedy")) {
      throw new AssertionError("this says too little: " + message, refused);
    }
    if (message.length() > 1000) {
      throw new AssertionError("a message of " + message.length() + " characters", refused);
    }
  }
}
