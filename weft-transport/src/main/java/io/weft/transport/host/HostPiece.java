// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.host;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;

/// How much two processes of one host send each other at once through its kernel. It lies in the
/// kernel until the peer reads it, and is read fast only from a cache; on the other hand each call
/// costs. Which of the two counts is a matter of the processor (`docs/adr/0071`).
///
/// Immutable.
///
/// @param bytes of a piece
public record HostPiece(int bytes) {

  /// The setting that says it, in bytes; 0 or none = by the processor.
  private static final String SETTING = "piece-bytes";

  private static final HostPiece SHORT = new HostPiece(128 << 10);
  private static final HostPiece LONG = new HostPiece(512 << 10);

  /// Less than this in the kernel costs more calls than it saves misses (`docs/adr/0066`).
  private static final int LEAST_SEND_BYTES = 128 << 10;

  private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

  /// From Zen 3 on eight cores share a third cache of 32 MiB.
  private static final int ZEN_3 = 25;

  private static final HostPiece HERE = ofThisProcessor();

  /// As a transport is told, else as fits the processor.
  public static HostPiece of(Map<String, String> settings) {
    int told = Integer.parseInt(settings.getOrDefault(SETTING, "0"));
    return told == 0 ? HERE : new HostPiece(told);
  }

  /// What Linux lets a socket towards the same host hold, to be asked for; it takes twice as much.
  public int sendBytes() {
    return Math.max(LEAST_SEND_BYTES, bytes / 2);
  }

  private static HostPiece ofThisProcessor() {
    try (Stream<String> lines = Files.lines(PROCESSORS)) {
      return of(lines);
    } catch (IOException | UncheckedIOException e) {
      return SHORT;
    }
  }

  /// By what Linux tells of the first processor.
  static HostPiece of(Stream<String> cpuinfo) {
    String vendor = "";
    int family = 0;
    for (String line : cpuinfo.takeWhile(line -> !line.isBlank()).toList()) {
      int colon = line.indexOf(':');
      if (colon < 0) {
        continue;
      }
      String value = line.substring(colon + 1).strip();
      switch (line.substring(0, colon).strip()) {
        case "vendor_id" -> vendor = value;
        case "cpu family" -> family = number(value);
        default -> {}
      }
    }
    return vendor.equals("AuthenticAMD") && family >= ZEN_3 ? LONG : SHORT;
  }

  private static int number(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
