// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

/// The result of one check.
///
/// @param area "java", "machine", "limit", "rdma", "transport", "program", "tensorflow"
/// @param subject the checked item
/// @param verdict usability of the item
/// @param detail the finding, or the reason why the item cannot be used
/// @param remedy the remedy; empty = none is needed
public record CheckResult(
    String area, String subject, CheckVerdict verdict, String detail, String remedy) {

  /// The usability of an item.
  public enum CheckVerdict {
    /// The item can be used.
    WORKS,
    /// The item can be used, but with less speed or function than possible.
    LIMITED,
    /// The item cannot be used; functions that need it do not work.
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
