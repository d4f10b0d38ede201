// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

/// One thing that was looked at.
///
/// @param area "java", "machine", "limit", "rdma", "transport", "program", "tensorflow"
/// @param subject what was looked at
/// @param verdict whether it can be used
/// @param detail what was found, or why it cannot be used
/// @param remedy what to do; empty where nothing need be done
public record CheckResult(
    String area, String subject, CheckVerdict verdict, String detail, String remedy) {

  /// Whether something can be used.
  public enum CheckVerdict {
    /// It can.
    WORKS,
    /// It can, but slower or less than it might.
    LIMITED,
    /// It cannot; what needs it does not work here.
    MISSING
  }

  static CheckResult works(String area, String subject, String detail) {
    return new CheckResult(area, subject, CheckVerdict.WORKS, detail, "");
  }

  static CheckResult limited(String area, String subject, String detail, String remedy) {
    return new CheckResult(area, subject, CheckVerdict.LIMITED, detail, remedy);
  }

  static CheckResult missing(String area, String subject, String detail, String remedy) {
    return new CheckResult(area, subject, CheckVerdict.MISSING, detail, remedy);
  }
}
