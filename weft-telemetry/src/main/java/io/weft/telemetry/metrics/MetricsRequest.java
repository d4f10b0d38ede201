// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.metrics;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The fields of an HTTP request that metrics need.
///
/// @param method `GET`, `HEAD` or another one
/// @param path path without query
/// @param accept formats that the client accepts; empty = any
record MetricsRequest(String method, String path, String accept) {

  private static final Pattern FIRST =
      Pattern.compile("([A-Z]{1,16}) (/[^ ?#]*)[^ ]* HTTP/1\\.[0-9]");

  /// Parses the head of a request; empty if it is not valid.
  static Optional<MetricsRequest> parse(String head) {
    String[] lines = head.split("\r?\n", -1);
    Matcher first = FIRST.matcher(lines[0]);
    if (!first.matches()) {
      return Optional.empty();
    }
    String accept = "";
    for (String line : lines) {
      if (line.toLowerCase(Locale.ROOT).startsWith("accept:")) {
        accept = line.substring("accept:".length()).strip();
      }
    }
    return Optional.of(new MetricsRequest(first.group(1), first.group(2), accept));
  }
}
